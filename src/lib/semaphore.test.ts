import { expect, test } from "bun:test";
import { createSemaphore, FairSemaphore } from "./semaphore.ts";

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

test("a slot released twice by one tenant counts once for the others", () => {
  const semaphore = new FairSemaphore(1);
  const slot = semaphore.tryAcquire("a");
  slot?.[Symbol.dispose]();
  slot?.[Symbol.dispose]();
  expect(semaphore.tryAcquire("b")).not.toBeNull();
  expect(semaphore.tryAcquire("c")).toBeNull();
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

/** Queues a caller for each tenant. Returns the order in which callers get their slots. */
function queue(semaphore: FairSemaphore, tenants: readonly string[]) {
  const order: string[] = [];
  const done = tenants.map(async (tenant) => {
    using _slot = await semaphore.acquire(tenant);
    order.push(tenant);
  });
  return { order, done: Promise.all(done) };
}

test("tenants that wait get slots by turns", async () => {
  const semaphore = new FairSemaphore(1);
  const held = await semaphore.acquire("many");
  const { order, done } = queue(semaphore, ["many", "many", "many", "many", "few", "one", "few"]);
  held[Symbol.dispose]();
  await done;
  expect(order).toEqual(["many", "few", "one", "many", "few", "many", "many"]);
});

test("a tenant at its bound waits while another tenant gets a slot", async () => {
  const semaphore = new FairSemaphore(3, 2);
  const held = [await semaphore.acquire("many"), await semaphore.acquire("many")];
  const { order, done } = queue(semaphore, ["many", "few"]);
  await Promise.resolve();
  expect(order).toEqual(["few"]);
  expect([semaphore.hasSlot("many"), semaphore.hasSlot("few")]).toEqual([false, true]);
  held[0]?.[Symbol.dispose]();
  await done;
  expect(order).toEqual(["few", "many"]);
});

test("a slot that is not waited for is taken only where one is available", () => {
  const semaphore = new FairSemaphore(1);
  const slot = semaphore.tryAcquire("a");
  expect(semaphore.tryAcquire("b")).toBeNull();
  slot?.[Symbol.dispose]();
  expect(semaphore.tryAcquire("b")).not.toBeNull();
});

test("more slots serve callers that wait, fewer hold back new ones", async () => {
  const semaphore = new FairSemaphore(1);
  const first = await semaphore.acquire("a");
  const second = semaphore.acquire("b");
  semaphore.resize(2);
  const held = await second;
  semaphore.resize(1);
  first[Symbol.dispose]();
  expect(semaphore.tryAcquire("a")).toBeNull();
  held[Symbol.dispose]();
  expect(semaphore.tryAcquire("a")).not.toBeNull();
});

test("any order of callers, aborts and releases loses no slot and exceeds no bound", async () => {
  const semaphore = new FairSemaphore(4, 2);
  const running = new Map<string, number>();
  let most = 0;
  let mostOfOne = 0;
  await Promise.all(
    Array.from({ length: 300 }, async (_, index) => {
      const tenant = `t${index % 7}`;
      const controller = new AbortController();
      if (index % 3 === 0) setTimeout(() => controller.abort(), index % 11);
      try {
        using _slot = await semaphore.acquire(tenant, controller.signal);
        running.set(tenant, (running.get(tenant) ?? 0) + 1);
        mostOfOne = Math.max(mostOfOne, running.get(tenant) ?? 0);
        most = Math.max(
          most,
          [...running.values()].reduce((sum, each) => sum + each),
        );
        if (index % 2 === 0) await new Promise(setImmediate);
        running.set(tenant, (running.get(tenant) ?? 0) - 1);
      } catch {
        // This caller's signal aborts while the caller waits.
      }
    }),
  );
  expect({ most, mostOfOne }).toEqual({ most: 4, mostOfOne: 2 });
  const all = ["a", "a", "b", "b"].map((tenant) => semaphore.tryAcquire(tenant));
  expect(all).not.toContain(null);
});
