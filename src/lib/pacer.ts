const SHARE_MS = 8;

/** There is one event loop, and so one of these: who waits to go on, and since when somebody has gone on. */
const loop = { waiting: new Array<() => void>(), startedAt: 0 };

/**
 * Keeps long computations from holding the event loop: call it before each slice of work and await what it answers.
 * One that is alone goes on for 8 ms. Several take turns, a slice each, and between two slices everything else that
 * waits runs first.
 */
export function yieldToEventLoop(): Promise<void> | undefined {
  if (loop.waiting.length === 0 && performance.now() - loop.startedAt < SHARE_MS) return undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  if (loop.waiting.push(resolve) === 1) setImmediate(goOn);
  return promise;
}

function goOn(): void {
  loop.startedAt = performance.now();
  loop.waiting.shift()?.();
  if (loop.waiting.length > 0) setImmediate(goOn);
}
