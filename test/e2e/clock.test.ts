import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { signIn } from "../support/administration.ts";
import { openFleet, readBudget, untilBudgetInForce, type Fleet } from "../support/fleet.ts";
import { reportAtLeast, reportExact } from "../support/figure.ts";
import { findFaketime, startFakeClock, type FakeClock } from "../support/fake-clock.ts";
import { until } from "../support/gateway.ts";

/*
 * The wall clock jumps two hours ahead and back, as on a virtual machine. Budgets must not be reset twice, leases of
 * running processes must not expire, limits must be exact, and durations must not be negative.
 */
const faketime = findFaketime();
if ("missing" in faketime) console.warn(`SKIPPED jumps of the clock: ${faketime.missing}`);
const hasNone = "missing" in faketime;

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
const JUMP_SECONDS = 2 * HOUR_SECONDS;
const COST_NANOS = 8_000n;
/** Pause between requests. The load must outlast the quarter of a second for which exhaustion is cached. */
const PAUSE_MS = 30;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "gateway-clock-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test.skipIf(hasNone).concurrent(
  "a jump ahead begins a new day once, a jump back none",
  async () => {
    const clock = await fakeClock(lateEvening());
    await using fleet = await openFleet({ env: clock.env });
    await fleet.gateways[0]!.cli("budgets", "create", "--amount", "0.000080001", "--period", "day");
    await untilBudgetInForce(fleet);
    const served: number[] = [];
    for (const jump of [0, JUMP_SECONDS, 0, JUMP_SECONDS, 0]) {
      await clock.jump(jump);
      served.push(await servedOf(fleet, 24, PAUSE_MS));
    }
    expect(served).toEqual([10, 10, 0, 0, 0]);
    expect(
      reportExact(
        "P29",
        "served of a daily budget for 10 over jumps across midnight",
        sum(served),
        "requests",
        20,
      ),
    ).toBe(true);
  },
  30_000,
);

test.skipIf(hasNone).concurrent(
  "three processes that share a budget do not overrun it during jumps",
  async () => {
    const clock = await fakeClock(0);
    await using fleet = await openFleet({ machines: 3, env: clock.env });
    await fleet.gateways[0]!.cli("budgets", "create", "--amount", "0.004000001");
    await untilBudgetInForce(fleet);
    const clients = Array.from({ length: 24 }, () => servedOf(fleet, 80));
    for (const jump of [JUMP_SECONDS, -JUMP_SECONDS, 0]) {
      await Bun.sleep(150);
      await clock.jump(jump);
    }
    const served = sum(await Promise.all(clients));
    expect(reportExact("P29", "served of a budget for 500 over jumps", served, "requests", 500)).toBe(true);
    await until("every charge", async () =>
      (await readBudget(fleet)).spent >= 500n * COST_NANOS ? true : undefined,
    );
    expect((await readBudget(fleet)).spent).toBe(500n * COST_NANOS);
  },
  30_000,
);

test.skipIf(hasNone).concurrent(
  "jumps release no limit early, and no duration is negative",
  async () => {
    const clock = await fakeClock(0);
    await using fleet = await openFleet({
      yaml: "limits: { default: { requests_per_minute: 12 } }",
      env: { ...clock.env, GATEWAY_DEFAULT_LIMITS: "" },
    });
    // This stream begins before the jumps. Its duration must not be negative either.
    const stream = fleet.chat({ isStream: true, prompt: "[[reply tokens=8 frameDelayMs=60]]" });
    await fleet.vendors[0]!.waitForHits(1);
    let served = 1;
    for (const jump of [0, JUMP_SECONDS, -JUMP_SECONDS, 0]) {
      await clock.jump(jump);
      served += await servedOf(fleet, 6);
    }
    expect(await (await stream).text()).toContain("[DONE]");
    expect(reportExact("P29", "served of 12 a minute over jumps", served, "requests", 12)).toBe(true);
    const lines = await until("the log", () => {
      const found = fleet.gateways[0]!.logs().filter((line) => line["message"] === "request");
      return found.length >= 25 ? found : undefined;
    });
    const durations = lines.flatMap((line) => [
      Number(line["duration_ms"]),
      Number(line["first_byte_ms"] ?? 0),
      ...attemptsOf(line).map((attempt) => Number(attempt.duration_ms)),
    ]);
    expect(reportAtLeast("P29", "shortest duration in the log", Math.min(...durations), "ms", 0)).toBe(true);
    expect(Math.max(...durations)).toBeLessThan(20_000);
  },
  30_000,
);

test.skipIf(hasNone).concurrent(
  "a jump of twenty days and back leaves no difference in the ledger",
  async () => {
    const clock = await fakeClock(0);
    await using fleet = await openFleet({ env: clock.env });
    const [gateway] = fleet.gateways;
    for (const period of ["total", "day", "month"])
      await gateway!.cli("budgets", "create", "--amount", "1", "--period", period);
    await untilBudgetInForce(fleet);
    for (const jump of [0, 20 * DAY_SECONDS, 0]) {
      const clients = Array.from({ length: 8 }, () => servedOf(fleet, 20));
      await clock.jump(jump);
      // A session ends by the wall clock, so each jump needs a new session.
      const admin = await signIn(gateway!);
      const differences = async () => (await admin.act("GET", "/ledger/verify")).differences;
      expect(await differences()).toEqual([]);
      expect(sum(await Promise.all(clients))).toBe(160);
      expect(await differences()).toEqual([]);
      await gateway!.stop();
      expect(await gateway!.cli("ledger", "verify")).toContain("no difference");
      await gateway!.restart();
    }
  },
  60_000,
);

function fakeClock(startSeconds: number): Promise<FakeClock> {
  if ("missing" in faketime) throw new Error(faketime.missing);
  return startFakeClock(faketime.library, directory, startSeconds);
}

/** Returns the seconds from now until 23:00 UTC of this day. Negative in the day's last hour. */
function lateEvening(): number {
  const now = new Date();
  const evening = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), 23);
  return Math.round((evening - now.getTime()) / 1000);
}

async function servedOf(fleet: Fleet, tries: number, pauseMs = 0): Promise<number> {
  let served = 0;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const response = await fleet.chat();
    await response.text();
    if (pauseMs > 0) await Bun.sleep(pauseMs);
    if (response.status === 200) served += 1;
    else expect(response.status).toBe(429);
  }
  return served;
}

function attemptsOf(line: Record<string, unknown>): { duration_ms: unknown }[] {
  const attempts = line["attempts"];
  return Array.isArray(attempts) ? attempts : [];
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
