import { every } from "./waiting.ts";

/**
 * Called during long work. `step` is a sentence for people. `done` is how much of the step is done, and `total` how
 * much there is; both are absent while they are not known. When this function throws, the work cleans up and ends.
 */
export type Progress = (step: string, done?: number, total?: number) => void;

const POLL_MS = 200;

/** Waits for work that runs elsewhere, such as in a thread. Calls `report` regularly in the meantime. */
export async function reportWhile<Result>(work: Promise<Result>, report: () => void): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const reporting = every(POLL_MS, report, reject);
  try {
    return await Promise.race([work, promise]);
  } finally {
    await reporting.stop();
    // The work may still fail after this function has ended. Without this handler, the error of the work would be
    // unhandled.
    work.catch(() => {});
  }
}
