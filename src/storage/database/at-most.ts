/**
 * Waits for work, but no longer than told, and answers whether it succeeded in that time. Work that did not goes
 * on by itself; what becomes of it is not heard.
 */
export async function atMost(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: deadline, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  const outcome = work.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([outcome, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
