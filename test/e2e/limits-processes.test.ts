import { expect, test } from "bun:test";
import { openFleet, type Fleet, type FleetOptions } from "../support/fleet.ts";
import { tellExact } from "../support/figure.ts";
import { until } from "../support/gateway.ts";
import { findRedis, startRedis } from "../support/redis.ts";

/*
 * Ten requests a minute are ten in sum on three processes that share a store, and each one's share of ten, rounded
 * down, where they share none.
 */
const LIMIT = 10;
const PROCESSES = 3;
const TRIES = 120;
const YAML = `limits: { default: { requests_per_minute: ${LIMIT} } }`;

const redis = findRedis();
if ("missing" in redis) console.warn(`SKIPPED limits through Redis: ${redis.missing}`);

test("without a shared store each process keeps to its share of a limit", async () => {
  await using fleet = await openLimited({ workers: PROCESSES });
  const { served, refused } = await flood(fleet);
  const share = Math.floor(LIMIT / PROCESSES) * PROCESSES;
  expect(tellExact("L1 alone", "served of 10 a minute on 3 processes", served, "requests", share)).toBe(true);
  expect(refused).toBe(TRIES - share);
}, 20_000);

test.skipIf("missing" in redis)(
  "a shared store makes it ten in sum, and its end costs nobody an error",
  async () => {
    if ("missing" in redis) return;
    const store = await startRedis(redis.binary);
    try {
      await using fleet = await openLimited({ machines: PROCESSES, env: { REDIS_URL: store.url } });
      const { served, refused, waits } = await flood(fleet);
      expect(tellExact("L1 redis", "served of 10 a minute on 3 processes", served, "requests", LIMIT)).toBe(
        true,
      );
      expect(refused).toBe(TRIES - LIMIT);
      expect(waits.every((seconds) => seconds >= 1 && seconds <= 60)).toBe(true);
      await store.crash();
      const after = await flood(fleet);
      expect(
        tellExact("L1 redis", "answers but 200 and 429 while the store is gone", after.others, "answers", 0),
      ).toBe(true);
      await until("the metric to tell", async () => {
        const states = await Promise.all(fleet.gateways.map((gateway) => degraded(gateway.url)));
        return states.every((state) => state === 1) ? true : undefined;
      });
      await store.restart();
      await until("the store to be used again", async () => {
        const states = await Promise.all(fleet.gateways.map((gateway) => degraded(gateway.url)));
        if (states.every((state) => state === 0)) return true;
        await fleet.chat().then((response) => response.text());
        return undefined;
      });
    } finally {
      await store.stop();
    }
  },
  40_000,
);

function openLimited(options: FleetOptions): Promise<Fleet> {
  return openFleet({ ...options, yaml: YAML, env: { GATEWAY_DEFAULT_LIMITS: "", ...options.env } });
}

/** Many requests at once, each on a connection of its own, so that every process gets far more than its share. */
async function flood(
  fleet: Fleet,
): Promise<{ served: number; refused: number; others: number; waits: number[] }> {
  const answers = await Promise.all(
    Array.from({ length: TRIES }, async (_, index) => {
      const gateway = fleet.gateways[index % fleet.gateways.length]!;
      const response = await fleet.chat({ gateway, isOnNewConnection: true });
      await response.text();
      return { status: response.status, wait: Number(response.headers.get("retry-after")) };
    }),
  );
  const refused = answers.filter(({ status }) => status === 429);
  const served = answers.filter(({ status }) => status === 200).length;
  return {
    served,
    refused: refused.length,
    others: answers.length - served - refused.length,
    waits: refused.map(({ wait }) => wait),
  };
}

/** The metric that tells of limits kept alone. */
async function degraded(url: string): Promise<number> {
  const text = await fetch(`${url}/metrics`).then((response) => response.text());
  return Number(/^gateway_limits_degraded (\d)/m.exec(text)?.[1]);
}
