import { expect, test } from "bun:test";
import type { Clock } from "../../lib/clock.ts";
import type { LimitRequest } from "./limits.ts";
import { MemoryLimiter } from "./memory-limiter.ts";

const requests = (owner: string, limit: number, amount = 1): LimitRequest => ({
  quantity: "requests",
  scope: "organization",
  owner,
  limit,
  amount,
});

function fakeClock(): Clock & { wall: number; ticks: number } {
  return {
    wall: 1_700_000_000_000,
    ticks: 5,
    now() {
      return this.wall;
    },
    monotonic() {
      return this.ticks;
    },
  };
}

test("a wall clock that jumps by two hours changes nothing", () => {
  const clock = fakeClock();
  const limiter = new MemoryLimiter({ clock });
  for (let index = 0; index < 10; index++) expect(limiter.take([requests("org", 10)]).isAdmitted).toBe(true);
  for (const jumpMs of [7_200_000, -14_400_000]) {
    clock.wall += jumpMs;
    expect(limiter.take([requests("org", 10)]).isAdmitted).toBe(false);
  }
  clock.ticks += 60_000;
  for (let index = 0; index < 10; index++) expect(limiter.take([requests("org", 10)]).isAdmitted).toBe(true);
});

test("a share of the limit is rounded down, is at least one, and 0 for a limit of 0", () => {
  const admitted = (limit: number) => {
    const limiter = new MemoryLimiter({ clock: fakeClock(), share: () => 3 });
    return Array.from({ length: 20 }, () => limiter.take([requests("org", limit)])).filter(
      (one) => one.isAdmitted,
    ).length;
  };
  expect([admitted(11), admitted(3), admitted(2), admitted(1)]).toEqual([3, 1, 1, 1]);
  expect(
    new MemoryLimiter({ clock: fakeClock(), share: () => 3 }).take([requests("org", 0, 0)]).isAdmitted,
  ).toBe(true);
});

test("a request larger than the share of its limit takes the whole share", () => {
  const limiter = new MemoryLimiter({ clock: fakeClock(), share: () => 4 });
  expect(limiter.take([requests("org", 100, 60)]).isAdmitted).toBe(true);
  expect(limiter.take([requests("org", 100, 1)]).isAdmitted).toBe(false);
});

test("amounts recorded from other processes count here too", () => {
  const limiter = new MemoryLimiter({ clock: fakeClock() });
  limiter.record([requests("org", 2)]);
  limiter.record([requests("org", 2)]);
  expect(limiter.take([requests("org", 2)]).isAdmitted).toBe(false);
});

test("unused counters are dropped, used ones are kept", () => {
  const clock = fakeClock();
  const limiter = new MemoryLimiter({ clock });
  for (let minute = 0; minute < 4; minute++) {
    for (let index = 0; index < 10_000; index++) limiter.take([requests(`org ${minute} ${index}`, 10)]);
    expect(limiter.take([requests("steady", 1)]).isAdmitted).toBe(true);
    clock.ticks += 59_999;
    expect(limiter.take([requests("steady", 1)]).isAdmitted).toBe(false);
    clock.ticks += 1;
  }
  limiter.take([requests("steady", 1)]);
  expect(limiter.size).toBeLessThan(20_002);
});

test("a counter that was used once still counts when unused ones are dropped", () => {
  const clock = fakeClock();
  const limiter = new MemoryLimiter({ clock });
  limiter.take([requests("first", 1)]);
  clock.ticks += 50_000;
  expect(limiter.take([requests("second", 1)]).isAdmitted).toBe(true);
  clock.ticks += 59_000;
  expect(limiter.take([requests("second", 1)]).isAdmitted).toBe(false);
});

test("counters of finished image calls are dropped", () => {
  const limiter = new MemoryLimiter({ clock: fakeClock() });
  for (let index = 0; index < 1_000; index++) {
    const verdict = limiter.take([
      { quantity: "concurrent_images", scope: "key", owner: `key ${index}`, limit: 1, amount: 1 },
    ]);
    if (verdict.isAdmitted) verdict.reservation.release();
  }
  expect(limiter.size).toBe(0);
});

test("a request larger than the share counts the whole share also after its correction", () => {
  const tokens = { ...requests("org", 1_000_000, 500_000), quantity: "tokens" as const };
  const limiter = new MemoryLimiter({ clock: fakeClock(), share: () => 4 });
  for (const [estimate, used] of [
    [500_000, 250_000],
    [100, 400_000],
  ] as const) {
    const verdict = limiter.take([{ ...tokens, owner: String(estimate), amount: estimate }]);
    if (!verdict.isAdmitted) throw new Error("it was refused");
    verdict.reservation.correct("tokens", used - estimate);
    const next = limiter.take([{ ...tokens, owner: String(estimate), amount: 1 }]);
    expect([next.isAdmitted, next.windows[0]!.remaining]).toEqual([false, 0]);
  }
});

test("corrections of one request add up", () => {
  const tokens = { ...requests("org", 1_000, 600), quantity: "tokens" as const };
  const limiter = new MemoryLimiter({ clock: fakeClock(), share: () => 2 });
  const verdict = limiter.take([tokens]);
  if (!verdict.isAdmitted) throw new Error("it was refused");
  for (const by of [-200, -300, 100]) verdict.reservation.correct("tokens", by);
  expect(limiter.take([{ ...tokens, amount: 1 }]).windows[0]!.remaining).toBe(500 - 200 - 1);
});

test("a second correction of a large request under a share starts from the result of the first", () => {
  let processes = 4;
  const limiter = new MemoryLimiter({ clock: fakeClock(), share: () => processes });
  const large = limiter.take([requests("org", 100, 80)]);
  if (!large.isAdmitted) throw new Error("it was refused");
  const left = (): number | undefined => limiter.take([requests("org", 100, 0)]).windows[0]?.remaining;
  processes = 1;
  expect(left()).toBe(75);
  processes = 4;
  const lefts = [-70, +20, +50, -80].map((by) => {
    large.reservation.correct("requests", by);
    return left();
  });
  expect(lefts).toEqual([15, 0, 0, 25]);
});

test("a count is corrected by the share under which it was made", () => {
  const leftAfter = (before: number, after: number): number | undefined => {
    let processes = before;
    const limiter = new MemoryLimiter({ clock: fakeClock(), share: () => processes });
    limiter.take([requests("org", 100, 5)]);
    const large = limiter.record([requests("org", 100, 80)]);
    processes = after;
    large.correct("requests", -70);
    return limiter.take([requests("org", 100, 0)]).windows[0]?.remaining;
  };
  // In each case 15 are counted. One process has the whole limit of 100, each of four processes 25.
  expect([leftAfter(1, 1), leftAfter(4, 1), leftAfter(1, 4), leftAfter(4, 4)]).toEqual([85, 85, 10, 10]);
});
