/**
 * Writes one line to the log. The message contains no secret. The default level is `warn`, or `debug` when the cause is
 * an unavailable database.
 */
export type StorageReport = (message: string, cause: unknown, level?: "info" | "warn" | "error") => void;

/** Reports the loss of a dependency and its return. Further calls with the same state report nothing. */
export interface OutageReport {
  lost(cause: unknown): void;
  available(): void;
  readonly isLost: boolean;
}

export function outageReport(
  lines: { lost: string; available: string },
  report: StorageReport,
): OutageReport {
  let lostAt: number | null = null;
  return {
    lost(cause) {
      if (lostAt !== null) return;
      lostAt = performance.now();
      report(lines.lost, cause, "warn");
    },
    available() {
      if (lostAt === null) return;
      const seconds = ((performance.now() - lostAt) / 1000).toFixed(1);
      lostAt = null;
      report(`${lines.available} after ${seconds} s`, null, "info");
    },
    get isLost() {
      return lostAt !== null;
    },
  };
}
