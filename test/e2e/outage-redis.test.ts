import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openFleet, type Fleet } from "../support/fleet.ts";
import { until, type TestGateway } from "../support/gateway.ts";
import { findRedis, startRedis, type PrivateRedis } from "../support/redis.ts";

const MACHINES = 3;
const LIMIT = 30;

const found = findRedis();
if ("missing" in found) console.warn(`SKIPPED: outages of Redis (${found.missing})`);

describe.skipIf("missing" in found)("while Redis is unavailable", () => {
  let redis: PrivateRedis;
  let fleet: Fleet;
  beforeAll(async () => {
    if ("missing" in found) return;
    redis = await startRedis(found.binary);
    fleet = await openFleet({
      machines: MACHINES,
      yaml: `limits: { default: { requests_per_minute: ${LIMIT} } }`,
      env: { REDIS_URL: redis.url, GATEWAY_DEFAULT_LIMITS: "" },
    });
  }, 30_000);
  afterAll(async () => {
    await fleet?.[Symbol.asyncDispose]();
    await redis?.stop();
  });

  const metric = async (gateway: TestGateway, name: string): Promise<number> => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  };
  const untilAll = (name: string, value: number) =>
    until(`${name} of ${value}`, async () => {
      const values = await Promise.all(fleet.gateways.map((gateway) => metric(gateway, name)));
      return values.every((one) => one === value) ? true : undefined;
    });

  test("live machines divide the limits", async () => {
    await untilAll("gateway_live_processes", MACHINES);
    await redis.crash();
    await untilAll("gateway_limits_degraded", 1);
    const served = await Promise.all(
      fleet.gateways.map(async (gateway) => {
        let count = 0;
        for (let sent = 0; sent < LIMIT; sent += 1) {
          const response = await fleet.chat({ gateway });
          await response.text();
          if (response.status === 200) count += 1;
        }
        return count;
      }),
    );
    expect(served).toEqual(Array.from({ length: MACHINES }, () => LIMIT / MACHINES));
  }, 30_000);

  test("grants of the outage count in the Redis that returns empty", async () => {
    await redis.restart();
    await untilAll("gateway_limits_degraded", 0);
    expect((await fleet.chat()).status).toBe(429);
    for (const gateway of fleet.gateways) {
      const lines = gateway.logs().filter(({ message }) => String(message).startsWith("Redis is"));
      // If Redis starts slowly, the connection may be lost and return once more.
      expect(lines.map(({ level }) => level).join(" ")).toMatch(/^warn info(?: warn info)?$/);
    }
  }, 30_000);

  test("a machine that stops is no longer counted", async () => {
    const stopped = fleet.gateways[MACHINES - 1]!;
    expect(await stopped.stop()).toBe(0);
    await until("the others to see it", async () =>
      (await metric(fleet.gateways[0]!, "gateway_live_processes")) === MACHINES - 1 ? true : undefined,
    );
  }, 30_000);
});
