import { expect, test } from "bun:test";
import { DeadlineTimer } from "./deadline-timer.ts";
import { sleep } from "./waiting.ts";

/** Number of ticks after which a slot is processed again. */
const TURN = 1024;

test("every deadline fires once, none before its time, also one that is more than a turn away", async () => {
  const timer = new DeadlineTimer(0.05);
  const begin = performance.now();
  const delays = [0, 1, 20, 30, TURN * 0.05, TURN * 0.05 * 2.5];
  const fired: [delay: number, after: number][] = [];
  await Promise.all(
    delays.map(
      (delay) =>
        new Promise<void>((resolve) => {
          timer.set(delay, () => {
            fired.push([delay, performance.now() - begin]);
            resolve();
          });
        }),
    ),
  );
  await sleep(5);
  expect(fired.map(([delay]) => delay).toSorted((one, other) => one - other)).toEqual(delays);
  for (const [delay, after] of fired) expect(after).toBeGreaterThanOrEqual(delay);
});

test("a deadline that was cleared does not fire, and takes no other with it", async () => {
  const timer = new DeadlineTimer(1);
  const fired: number[] = [];
  const deadlines = Array.from({ length: 10 }, (_, index) => timer.set(5, () => fired.push(index)));
  for (const [index, deadline] of deadlines.entries()) if (index % 3 !== 0) timer.clear(deadline);
  timer.clear(deadlines[1]!);
  await new Promise<void>((resolve) => timer.set(20, resolve));
  expect(fired.toSorted()).toEqual([0, 3, 6, 9]);
});

test("one clears another that is due in the same tick", async () => {
  const timer = new DeadlineTimer(1);
  const fired: string[] = [];
  const one = timer.set(3, () => (fired.push("one"), timer.clear(other)));
  const other = timer.set(3, () => (fired.push("other"), timer.clear(one)));
  await new Promise<void>((resolve) => timer.set(20, resolve));
  expect(fired).toHaveLength(1);
});

test("a signal's abort makes its deadline fire, unless it is no longer watched", async () => {
  const timer = new DeadlineTimer(1);
  const client = new AbortController();
  const fired: string[] = [];
  timer.set(60_000, () => fired.push("watched"), client.signal);
  const unwatched = timer.set(60_000, () => fired.push("unwatched"), client.signal);
  const soon = timer.set(10, () => fired.push("in time"), client.signal);
  for (const deadline of [unwatched, soon]) timer.unwatch(deadline);
  client.abort();
  await new Promise<void>((resolve) => timer.set(30, resolve));
  expect(fired).toEqual(["watched", "in time"]);
  timer.clear(unwatched);
});
