import { every } from "./waiting.ts";

/**
 * Called as a long work goes on: with a step, a sentence for people, when it begins, and with how much of it is done so
 * far, of a total where that is known. The work ends, and cleans up, when it throws.
 */
export type Progress = (step: string, done?: number, total?: number) => void;

const POLL_MS = 200;

/** Waits for work elsewhere, such as in a thread, and says meanwhile how much of it is done. */
export async function reportWhile<Result>(work: Promise<Result>, report: () => void): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const reporting = every(POLL_MS, report, reject);
  try {
    return await Promise.race([work, promise]);
  } finally {
    await reporting.stop();
    // It may still fail after it was left.
    work.catch(() => {});
  }
}
