/**
 * Signals within this time are one: npm forwards a signal that the process group, and so this process, has received too.
 */
const SAME_SIGNAL_MS = 1_000;

interface StopHandlers {
  stop(): void;
  leave(): void;
  /** Whether signals have no effect now. */
  areIgnored?(): boolean;
}

/** Calls `stop` at the first SIGTERM or SIGINT, and `leave` at each that comes a second or more after it. */
export function onStopSignals({ stop, leave, areIgnored }: StopHandlers): void {
  let firstAt: number | null = null;
  const receive = (): void => {
    if (areIgnored?.()) return;
    const now = performance.now();
    if (firstAt === null) {
      firstAt = now;
      stop();
    } else if (now - firstAt >= SAME_SIGNAL_MS) leave();
  };
  process.on("SIGTERM", receive).on("SIGINT", receive);
}
