const SHARE_MS = 8;

/**
 * Keeps a long computation from holding the event loop: call the pause after each slice of work and await it.
 * It answers at once until 8 ms have been used, then lets everything else that waits run first.
 */
export function createPacer(): () => Promise<void> | undefined {
  let startedAt = performance.now();
  return () => {
    if (performance.now() - startedAt < SHARE_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        startedAt = performance.now();
        resolve();
      });
    });
  };
}
