import { afterEach, describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { systemClock, type Clock } from "../../src/lib/clock.ts";
import { LimitCoordinator } from "../../src/storage/counters/limit-coordinator.ts";
import type { SupervisorLimits } from "../../src/storage/counters/limit-messages.ts";
import { WorkerLimiter } from "../../src/storage/counters/worker-limiter.ts";
import { WINDOW_MS, admitted, contract, count, isAdmitted, request, until } from "./limiter-contract.ts";

const opened: WorkerLimiter[] = [];
afterEach(() => {
  for (const limiter of opened.splice(0)) limiter.close();
});

/** A coordinator and its workers. Messages are copied and delivered later, as between processes. */
function machine({ workers = 2, clock = systemClock as Clock, windowMs = 60_500 } = {}) {
  const state = { messages: 0, undelivered: 0, isFrozen: false, isConnected: true };
  const receivers: ((message: SupervisorLimits) => void)[] = [];
  const coordinator = new LimitCoordinator({
    workers,
    clock,
    windowMs,
    send(worker, message) {
      state.messages += 1;
      const copy = structuredClone(message);
      queueMicrotask(() => receivers[worker]?.(copy));
    },
  });
  const limiters = Array.from({ length: workers }, (_, worker) => {
    const limiter = new WorkerLimiter({
      workers,
      clock,
      link: {
        isConnected: () => state.isConnected,
        onLimits: (receive) => void (receivers[worker] = receive),
        sendLimits(message) {
          state.messages += 1;
          state.undelivered += 1;
          const copy = structuredClone(message);
          const deliver = () => {
            if (state.isFrozen) return void setTimeout(deliver, 20);
            state.undelivered -= 1;
            coordinator.receive(worker, copy);
          };
          queueMicrotask(deliver);
        },
      },
    });
    opened.push(limiter);
    return limiter;
  });
  return { coordinator, limiters, one: limiters[0]!, other: limiters[1]!, state };
}

describe("limiter of a worker", () => {
  contract((windowMs = WINDOW_MS) => {
    let monotonic = 1_000;
    const clock = { now: () => 0, monotonic: () => monotonic };
    return {
      limiter: machine({ clock, windowMs }).one,
      pass: async (durationMs) => {
        monotonic += durationMs;
      },
    };
  });
});

test("small limits are exact in sum, whichever worker takes", async () => {
  const { one, other } = machine();
  const small = [request("requests", "org", 4)];
  let granted = 0;
  for (let turn = 0; turn < 6; turn += 1)
    for (const limiter of [one, other]) if (await isAdmitted(limiter, small)) granted += 1;
  expect(granted).toBe(4);
});

test("ample limits are taken from credits, almost all without a message", async () => {
  const { one, state } = machine();
  const ample = [request("requests", "org", 100_000), request("tokens", "org", 10_000_000, 50)];
  for (let turn = 0; turn < 5_000; turn += 1) await one.take(ample);
  expect(state.messages).toBeLessThan(50);
});

test("an ample limit is used up exactly by two workers, credits included", async () => {
  const { one, other } = machine();
  const ample = () => [request("requests", "org", 1_000)];
  let granted = 0;
  for (let turn = 0; turn < 600; turn += 1)
    for (const limiter of [one, other]) if (await isAdmitted(limiter, ample())) granted += 1;
  expect(granted).toBe(1_000);
  expect(await count(one, ample(), 50)).toBe(0);
});

test("credits of one worker are recalled before another one is refused", async () => {
  const { one, other } = machine();
  const limit = 1_000;
  for (let turn = 0; turn < 3; turn += 1) await admitted(one, [request("requests", "org", limit)]);
  // The first worker has a credit of about an eighth of the limit. The second gets all that is unused.
  expect(await count(other, [request("requests", "org", limit)], limit)).toBe(limit - 3);
});

test("a credit that comes back late is not taken for the one in force", async () => {
  const sent: SupervisorLimits[] = [];
  const coordinator = new LimitCoordinator({
    workers: 1,
    clock: systemClock,
    send: (_, message) => void sent.push(message),
  });
  const nothing = { returns: [], corrections: [], releases: [], takes: [] };
  const take = (id: number, amount: number) => {
    coordinator.receive(0, {
      ...nothing,
      takes: [{ id, requests: [request("requests", "org", 1_000, amount)], wantsCredit: true }],
    });
    return setImmediate();
  };
  await take(1, 1);
  expect(sent).toMatchObject([{ kind: "verdict", credits: [{ amount: 249 }] }]);
  const { quantity, scope, owner } = request("requests", "org", 1_000);
  const counter = { quantity, scope, owner };
  coordinator.receive(0, { ...nothing, returns: [{ counter, takeId: 0, unused: 200, open: 0 }] });
  await take(2, 751);
  expect(sent.slice(1)).toEqual([{ kind: "recall", counter }]);
  coordinator.workerEnded(0);
});

test("a correction reaches what was taken from a credit, also after it was returned", async () => {
  const { one, other } = machine();
  const tokens = (amount: number) => [request("tokens", "org", 100_000, amount)];
  const reservations = [];
  for (let turn = 0; turn < 10; turn += 1) reservations.push(await admitted(one, tokens(1_000)));
  expect(await isAdmitted(other, tokens(95_000))).toBe(false);
  for (const reservation of reservations) reservation.correct("tokens", -900);
  await until(() => isAdmitted(other, tokens(99_000)));
  expect(await isAdmitted(one, tokens(1))).toBe(false);
});

test.each([
  ["admitted what its correction gives back", -880, true],
  ["refused what its correction takes", 100, false],
])("a take that arrives beside the correction of another worker is %s", async (_, by, isGranted) => {
  const verdicts: boolean[] = [];
  const takenAt: number[] = [];
  const coordinator = new LimitCoordinator({
    workers: 2,
    clock: systemClock,
    send(_worker, message) {
      if (message.kind !== "verdict") return;
      verdicts.push(message.verdict.isAdmitted);
      takenAt.push(message.takenAt);
    },
  });
  const nothing = { returns: [], corrections: [], releases: [], takes: [] };
  const [asked] = [request("tokens", "org", 1_900, 900)];
  const take = (worker: number) =>
    coordinator.receive(worker, {
      ...nothing,
      takes: [{ id: verdicts.length, requests: [asked!], wantsCredit: false }],
    });
  for (let turn = 0; turn < 2; turn += 1) {
    take(0);
    await setImmediate();
  }
  const { quantity, scope, owner } = asked!;
  const corrections = [{ counter: { quantity, scope, owner }, takenAt: takenAt[0]!, by, closed: 900 }];
  if (!isGranted) coordinator.receive(0, { ...nothing, corrections: [{ ...corrections[0]!, by: -800 }] });
  // The supervisor may read messages from two connections in another order than they were sent.
  take(1);
  await Promise.resolve();
  coordinator.receive(0, { ...nothing, corrections });
  await setImmediate();
  expect(verdicts).toEqual([true, true, isGranted]);
});

test("a correction is on its way before the call that makes it returns", async () => {
  const { one, state } = machine();
  const reservation = await admitted(one, [request("tokens", "org", 2_000, 900)]);
  const before = state.messages;
  reservation.correct("tokens", -880);
  expect(state.messages).toBe(before + 1);
});

test("the wait of a refusal counts nothing of a credit that running requests may give back", async () => {
  const { one, other } = machine();
  const tokens = (amount: number) => [request("tokens", "org", 100_000, amount)];
  const reservations = [];
  for (let turn = 0; turn < 10; turn += 1) reservations.push(await admitted(one, tokens(1_000)));
  expect(await other.take(tokens(95_000))).toMatchObject({ isAdmitted: false, retryAfterSeconds: 1 });
  for (const reservation of reservations) reservation.correct("tokens", 0);
  expect(await other.take(tokens(95_000))).toMatchObject({ isAdmitted: false, retryAfterSeconds: 60 });
});

test("slots are shared, and a worker that ended gives its own back", async () => {
  const { coordinator, one, other } = machine();
  const slots = [request("concurrent_images", "key", 3)];
  await admitted(one, slots);
  await admitted(one, slots);
  const kept = await admitted(other, slots);
  expect(await isAdmitted(other, slots)).toBe(false);
  coordinator.workerEnded(0);
  expect(await count(other, slots, 3)).toBe(2);
  kept.release();
  await until(() => isAdmitted(other, slots));
});

test("a worker that ended with a credit delays nobody, and what it may have used stays counted", async () => {
  const { coordinator, one, other } = machine();
  const limit = 1_000;
  for (let turn = 0; turn < 3; turn += 1) await admitted(one, [request("requests", "org", limit)]);
  coordinator.workerEnded(0);
  const startedAt = performance.now();
  const granted = await count(other, [request("requests", "org", limit)], limit);
  expect(granted).toBeLessThan(limit - 3);
  expect(granted).toBeGreaterThan(limit * 0.8);
  expect(performance.now() - startedAt).toBeLessThan(200);
});

test("a supervisor that does not respond means limits by share, and what it grants late is given back", async () => {
  const { one, other, state } = machine();
  const small = () => [request("requests", "org", 4), request("concurrent_images", "org", 4)];
  const ofBoth = [request("images", "org", 10), { ...request("images", "key", 10), scope: "key" as const }];
  expect(await count(other, ofBoth, 4)).toBe(4);
  state.isFrozen = true;
  const [late] = await Promise.all([
    Promise.all(Array.from({ length: 4 }, () => one.take(small()))),
    count(one, ofBoth, 1),
  ]);
  expect(late.filter((verdict) => verdict.isAdmitted)).toHaveLength(2);
  state.isFrozen = false;
  await until(() => state.undelivered === 0);
  await until(async () => (await count(one, small(), 4)) === 4);
  // The late grant is returned only once, so the other worker's images still count.
  expect(await count(one, ofBoth, 10)).toBe(6);
});

test("what was taken counts half a second longer than a minute, as a credit of it may be used later", async () => {
  let monotonic = 0;
  const verdicts: boolean[] = [];
  const coordinator = new LimitCoordinator({
    workers: 1,
    clock: { now: () => 0, monotonic: () => monotonic },
    send: (_, message) => void (message.kind === "verdict" && verdicts.push(message.verdict.isAdmitted)),
  });
  for (const [id, at] of [0, 60_499, 60_500].entries()) {
    monotonic = at;
    const take = { id, requests: [request("requests", "org", 1)], wantsCredit: false };
    coordinator.receive(0, { returns: [], corrections: [], releases: [], takes: [take] });
    await setImmediate();
  }
  expect(verdicts).toEqual([true, false, true]);
});

test("a worker admits nothing from a credit that has expired", async () => {
  let monotonic = 1_000;
  const { one, state } = machine({ clock: { now: () => 0, monotonic: () => monotonic } });
  const ample = () => [request("requests", "org", 1_000)];
  for (let turn = 0; turn < 3; turn += 1) await admitted(one, ample());
  expect(one.take(ample())).not.toBeInstanceOf(Promise);
  monotonic += 500;
  const { messages } = state;
  await admitted(one, ample());
  expect(state.messages).toBeGreaterThan(messages);
});

test("without a supervisor a worker keeps to its share", async () => {
  const { one, state } = machine();
  state.isConnected = false;
  expect(await count(one, [request("requests", "org", 10)], 20)).toBe(5);
});

test("an expired credit is returned, so that the rest is available to others", async () => {
  const { one, other } = machine();
  const limit = 1_000;
  for (let turn = 0; turn < 3; turn += 1) await admitted(one, [request("requests", "org", limit)]);
  await until(async () => {
    const { windows } = await other.take([request("requests", "org", limit, 0)]);
    return windows[0]?.remaining === limit - 3;
  });
});
