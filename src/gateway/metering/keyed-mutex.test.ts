import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { KeyedMutex } from "./budget-leases.ts";

test("work on one budget never overlaps, also for requests that come while others wait", async () => {
  const mutex = new KeyedMutex();
  const begun: string[] = [];
  const run = (name: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = mutex.run("b", 1n, async () => {
      begun.push(name);
      await promise;
    });
    return { done, end: resolve };
  };
  const [first, second] = [run("first"), run("second")];
  await setImmediate();
  expect(begun).toEqual(["first"]);
  first.end();
  await first.done;
  const third = run("third");
  await setImmediate();
  expect(begun).toEqual(["first", "second"]);
  second.end();
  third.end();
  await Promise.all([second.done, third.done]);
  expect(begun).toEqual(["first", "second", "third"]);
});
