import { expect, test } from "bun:test";
import { createSemaphore } from "./semaphore.ts";

test("never grants more slots than there are, and serves all callers", async () => {
  const semaphore = createSemaphore(3);
  let inside = 0;
  let most = 0;
  let done = 0;
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      using _slot = await semaphore.acquire();
      most = Math.max(most, (inside += 1));
      await Promise.resolve();
      inside -= 1;
      done += 1;
    }),
  );
  expect({ most, done, inside }).toEqual({ most: 3, done: 50, inside: 0 });
});

test("callers get slots in order of arrival", async () => {
  const semaphore = createSemaphore(1);
  const held = await semaphore.acquire();
  const order: number[] = [];
  const waiting = [1, 2, 3].map(async (number) => {
    using _slot = await semaphore.acquire();
    order.push(number);
  });
  held[Symbol.dispose]();
  await Promise.all(waiting);
  expect(order).toEqual([1, 2, 3]);
});

test("an aborted waiter takes no slot", async () => {
  const semaphore = createSemaphore(1);
  const held = await semaphore.acquire();
  const controller = new AbortController();
  const waiting = semaphore.acquire(controller.signal);
  controller.abort(new Error("disconnected"));
  expect(waiting).rejects.toThrow("disconnected");
  held[Symbol.dispose]();
  using _slot = await semaphore.acquire();
});

test("a slot released twice counts once", async () => {
  const semaphore = createSemaphore(1);
  const slot = await semaphore.acquire();
  slot[Symbol.dispose]();
  slot[Symbol.dispose]();
  using _only = await semaphore.acquire();
  const second = semaphore.acquire(AbortSignal.timeout(5));
  expect(second).rejects.toThrow();
  await second.catch(() => undefined);
});

test("an aborted signal is refused even when a slot is free", () => {
  expect(createSemaphore(1).acquire(AbortSignal.abort())).rejects.toThrow();
});

test("a slot passed on to a waiter that aborts in the same turn is not lost", async () => {
  const semaphore = createSemaphore(1);
  const held = await semaphore.acquire();
  const controller = new AbortController();
  const waiting = semaphore.acquire(controller.signal).then(
    (slot) => slot[Symbol.dispose](),
    () => undefined,
  );
  controller.abort();
  held[Symbol.dispose]();
  await waiting;
  using _slot = await semaphore.acquire(AbortSignal.timeout(1_000));
});
