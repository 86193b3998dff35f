import { afterAll, beforeAll, expect, test } from "bun:test";
import { openFleet, type Fleet } from "../support/fleet.ts";
import { reportAtLeast, reportAtMost } from "../support/figure.ts";
import { until } from "../support/gateway.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import type { Simulator } from "../upstreams/simulator.ts";

/*
 * One of three vendors fails in each of six ways. After its first five failures, under 1 % of requests may fail. After
 * its recovery it must get traffic again. When all vendors fail, retries must not add to their load.
 */
const WAYS: Record<string, Behaviour> = {
  "answers-503": { fault: "error-status", status: 503 },
  resets: { fault: "reset-before-headers" },
  hangs: { fault: "stall" },
  "is-ten-times-slower": { delayMs: 200 },
  "answers-html": { fault: "html" },
  // The response contains no time to wait, because such a time would eject the target immediately.
  "answers-429": { fault: "error-status", status: 429 },
};
const ALL = "all-fail";
const CLIENTS = 6;
/** Time for which each vendor fails under load. */
const FAILING_MS = 3_000;
const RECOVERED_MS = 40_000;
const NORMAL: Behaviour = { delayMs: 20 };
const MANY = 5_000;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await openFleet({
    models: [...Object.keys(WAYS), ALL],
    vendors: 3,
    strategy: "weighted",
    deadlines: { firstByteMs: 400, totalMs: 400 },
  });
}, 30_000);
afterAll(() => fleet[Symbol.asyncDispose]());

for (const [way, behaviour] of Object.entries(WAYS)) {
  test.concurrent(
    `a vendor that ${way.replaceAll("-", " ")} fails under 1 % of requests and gets traffic again`,
    async () => {
      const [broken, ...others] = fleet.vendorsByModel.get(way)!;
      for (const vendor of others) repeat(vendor, NORMAL);
      repeat(broken!, behaviour);
      const errors = await errorsOfLoad(way, broken!, FAILING_MS);
      const share = (100 * errors.afterFifth) / errors.requests;
      const name = `${way}: errors of ${errors.requests} requests after the fifth failure`;
      const isHidden = reportAtMost("P12", name, share, "%", 1);
      const recoveredMs = await recover(way, broken!);
      const isBack = reportAtMost("P12", `${way}: traffic again after`, recoveredMs, "ms", RECOVERED_MS);
      expect([isHidden, isBack]).toEqual([true, true]);
    },
    60_000,
  );
}

test.concurrent(
  "vendors that all fail get few repeated calls",
  async () => {
    const vendors = fleet.vendorsByModel.get(ALL)!;
    for (const vendor of vendors) repeat(vendor, { fault: "error-status", status: 503 });
    let requests = 0;
    const statuses = new Set<number>();
    const end = performance.now() + FAILING_MS;
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (performance.now() < end) {
          requests += 1;
          statuses.add(await statusOf(ALL));
          await Bun.sleep(10);
        }
      }),
    );
    const attempts = vendors.reduce((sum, { hits }) => sum + hits.length, 0);
    expect([...statuses]).toEqual([503]);
    expect(reportAtLeast("P13", "attempts while all fail", attempts, "attempts", 1)).toBe(true);
    expect(
      reportAtMost(
        "P13",
        `attempts for ${requests} requests`,
        attempts,
        "attempts",
        Math.floor(1.2 * requests) + 3,
      ),
    ).toBe(true);
  },
  30_000,
);

/** Runs requests of some clients. Counts errors from the failing vendor's fifth failure on. */
async function errorsOfLoad(
  model: string,
  broken: Simulator,
  forMs: number,
): Promise<{ requests: number; afterFifth: number }> {
  const counts = { requests: 0, afterFifth: 0 };
  const end = performance.now() + forMs;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (performance.now() < end) {
        const isLate = broken.hits.length >= 5;
        const status = await statusOf(model);
        if (!isLate) continue;
        counts.requests += 1;
        if (status !== 200) counts.afterFifth += 1;
      }
    }),
  );
  return counts;
}

/** Returns the milliseconds from the vendor's recovery to its next delivered reply. */
async function recover(model: string, vendor: Simulator): Promise<number> {
  vendor.reset();
  const recoveredAt = performance.now();
  await until(
    `${model} to get traffic`,
    async () => {
      await statusOf(model);
      return vendor.totals.delivered > 0 ? true : undefined;
    },
    RECOVERED_MS,
  );
  return Math.round(performance.now() - recoveredAt);
}

async function statusOf(model: string): Promise<number> {
  const response = await fleet.chat({ model });
  await response.text();
  return response.status;
}

function repeat(vendor: Simulator, behaviour: Behaviour): void {
  vendor.next(...Array.from({ length: MANY }, () => behaviour));
}
