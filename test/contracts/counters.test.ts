import { expect, test } from "bun:test";
import { systemClock } from "../../src/lib/clock.ts";
import { openCounters } from "../../src/storage/counters/index.ts";
import { until } from "../support/gateway.ts";
import { findRedis, startRedis } from "../support/redis.ts";

const found = findRedis();
if ("missing" in found) console.log(`SKIPPED what is told of a lost Redis: ${found.missing}`);

/** Opens counters. `told` collects the beginning of each reported problem. */
async function open(redisUrl: string | null) {
  const told: string[] = [];
  const onProblem = (message: string) => void told.push(message.split(/[,:]/)[0]!);
  const counters = await openCounters({
    redisUrl,
    supervisor: null,
    workers: 2,
    processes: () => 2,
    clock: systemClock,
    onEjection() {},
    onProblem,
  });
  return { counters, told, [Symbol.dispose]: () => counters.close() };
}

test("without a shared store nothing is degraded and announcing does nothing", async () => {
  using alone = await open(null);
  expect([alone.told, alone.counters.isDegraded()]).toEqual([[], false]);
});

test("a Redis that is away at the start is reported once, however often it is tried", async () => {
  using lost = await open("redis://127.0.0.1:1");
  await Bun.sleep(500);
  expect([lost.told, lost.counters.isDegraded()]).toEqual([["Redis is away"], true]);
});

test.skipIf("missing" in found)(
  "an outage and its end are reported once each, normal operation is not",
  async () => {
    const redis = await startRedis("binary" in found ? found.binary : "");
    try {
      using shared = await open(redis.url);
      const { told } = shared;
      expect(told).toEqual([]);
      for (let round = 1; round <= 2; round += 1) {
        await redis.crash();
        await until("the loss", () => (told.length === round * 2 - 1 ? true : undefined));
        await redis.restart();
        await until("the return", () => (told.length === round * 2 ? true : undefined));
      }
      expect(told).toEqual(["Redis is away", "Redis is back", "Redis is away", "Redis is back"]);
    } finally {
      await redis.stop();
    }
  },
  20_000,
);
