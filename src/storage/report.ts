/**
 * Takes one line for the log. The message names no secret; `warn` is the level unless given, and `debug` where the cause
 * is that the database is away.
 */
export type StorageReport = (message: string, cause: unknown, level?: "info" | "warn" | "error") => void;

/** Reports the loss of something the gateway depends on, and its return: one line each, however often it is called. */
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
