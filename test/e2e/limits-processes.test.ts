import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  IMAGE_MODEL,
  openFleet,
  untilServing,
  type ChatRequest,
  type Fleet,
  type FleetOptions,
} from "../support/fleet.ts";
import { reportExact } from "../support/figure.ts";
import { until } from "../support/gateway.ts";
import { readError } from "../support/vendor.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import { findRedis, startRedis } from "../support/redis.ts";

/* Limits that several processes share: workers of one machine, and machines with Redis. */
const LIMIT = 10;
const PROCESSES = 3;
const TRIES = 120;
const YAML = `limits: { default: { requests_per_minute: ${LIMIT} } }`;

const redis = findRedis();
if ("missing" in redis) console.warn(`SKIPPED limits through Redis: ${redis.missing}`);

test("the workers of one machine admit exactly the limit without a shared store", async () => {
  await using fleet = await openLimited({ workers: PROCESSES });
  const { served, refused } = await flood(fleet);
  expect(reportExact("L1 workers", "served of 10 a minute on 3 workers", served, "requests", LIMIT)).toBe(
    true,
  );
  expect(refused).toBe(TRIES - LIMIT);
}, 20_000);

describe("two workers of one machine", () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await openFleet({ workers: 2 });
  });
  beforeEach(() => {
    const [vendor] = fleet.vendors;
    vendor!.reset();
    vendor!.respondBy(() => undefined);
  });
  afterAll(() => fleet[Symbol.asyncDispose]());

  test("a key limited to four a minute is served four times, whichever worker gets its requests", async () => {
    const key = await createKey(fleet, "requests_per_minute=4");
    const statuses: number[] = [];
    for (let sent = 0; sent < 12; sent += 1) statuses.push(await statusOf(fleet, { key }));
    expect(statuses.filter((status) => status === 200)).toHaveLength(4);
    expect(statuses.filter((status) => status === 429)).toHaveLength(8);
  }, 20_000);

  test("two workers at full speed exhaust an ample limit exactly", async () => {
    const limit = 400;
    const key = await createKey(fleet, `requests_per_minute=${limit}`);
    const counts = { served: 0, refused: 0 };
    const client = async (): Promise<void> => {
      for (let sent = 0; sent < 60; sent += 1) {
        const status = await statusOf(fleet, { key });
        if (status === 200) counts.served += 1;
        if (status === 429) counts.refused += 1;
      }
    };
    await Promise.all(Array.from({ length: 10 }, client));
    expect(counts).toEqual({ served: limit, refused: 600 - limit });
  }, 30_000);

  test(
    "each call counts with what it really used before the next one",
    () => expectExactTokens(fleet),
    30_000,
  );

  test("a request larger than a limit is a 400 that the client does not retry", async () => {
    const key = await createKey(fleet, "tokens_per_minute=100");
    const response = await fleet.chat({ key, tokens: 500 });
    expect(response.status).toBe(400);
    expect(response.headers.get("retry-after")).toBeNull();
    expect((await readError(response))["message"]).toContain("This key's limit of 100 tokens a minute");
  }, 20_000);

  test("workers share image slots, and a dead worker's slots are released", async () => {
    const key = await createKey(fleet, "concurrent_images=3");
    const [vendor] = fleet.vendors;
    vendor!.next(...Array.from({ length: 3 }, () => "stall" as const));
    const running = Array.from({ length: 3 }, () => generate(fleet, key).catch(() => 0));
    await vendor!.waitForHits(3);
    expect(await generate(fleet, key)).toBe(429);
    const pids = fleet.pids();
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await Promise.all(running);
    await until("new workers", () =>
      fleet.pids().length === 2 && !fleet.pids().some((pid) => pids.includes(pid)) ? true : undefined,
    );
    await untilServing(fleet.gateways[0]!, 2);
    const statuses = await Promise.all(Array.from({ length: 3 }, () => generate(fleet, key)));
    expect(statuses).toEqual([200, 200, 200]);
  }, 30_000);
});

test("four workers count what each call really used before the next one", async () => {
  await using fleet = await openFleet({ workers: 4 });
  await expectExactTokens(fleet);
}, 30_000);

test.skipIf("missing" in redis)(
  "machines with Redis count what each call really used before the next one",
  async () => {
    if ("missing" in redis) return;
    const store = await startRedis(redis.binary);
    try {
      await using fleet = await openFleet({ machines: PROCESSES, env: { REDIS_URL: store.url } });
      await expectExactTokens(fleet);
    } finally {
      await store.stop();
    }
  },
  30_000,
);

test.skipIf("missing" in redis)(
  "machines with Redis admit exactly the limit, and its loss fails no request",
  async () => {
    if ("missing" in redis) return;
    const store = await startRedis(redis.binary);
    try {
      await using fleet = await openLimited({ machines: PROCESSES, env: { REDIS_URL: store.url } });
      const { served, refused, waits } = await flood(fleet);
      expect(reportExact("L1 redis", "served of 10 a minute on 3 processes", served, "requests", LIMIT)).toBe(
        true,
      );
      expect(refused).toBe(TRIES - LIMIT);
      expect(waits.every((seconds) => seconds >= 1 && seconds <= 60)).toBe(true);
      await store.crash();
      const after = await flood(fleet);
      expect(
        reportExact(
          "L1 redis",
          "responses but 200 and 429 while the store is gone",
          after.others,
          "responses",
          0,
        ),
      ).toBe(true);
      await until("the metric to show it", async () => {
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

/** Calls the processes in turn. The number of served requests must be exact. */
async function expectExactTokens(fleet: Fleet): Promise<void> {
  const [vendor] = fleet.vendors;
  const callInTurn = async (tokens: number | null, count: number): Promise<number[]> => {
    const key = await createKey(fleet, "tokens_per_minute=2000");
    const statuses: number[] = [];
    for (let sent = 0; sent < count; sent += 1) {
      const gateway = fleet.gateways[sent % fleet.gateways.length]!;
      statuses.push(await statusOf(fleet, { key, gateway, tokens, isStream: sent % 2 === 1 }));
    }
    return statuses;
  };
  vendor!.respondBy(() => using(20));
  const small = await callInTurn(900, 40);
  expect(small.filter((status) => status === 200)).toHaveLength(40);
  // Each reply uses four times the estimate, so no sixth request is served.
  vendor!.respondBy(() => using(400));
  const large = await callInTurn(null, 12);
  expect(large.filter((status) => status === 200)).toHaveLength(5);
}

/** Returns a reply that uses this number of tokens, including the prompt's tokens. */
function using(total_tokens: number): Behaviour {
  const tokens = total_tokens - 8;
  return { tokens, usage: { prompt_tokens: 8, completion_tokens: tokens, total_tokens } };
}

function openLimited(options: FleetOptions): Promise<Fleet> {
  return openFleet({ ...options, yaml: YAML, env: { GATEWAY_DEFAULT_LIMITS: "", ...options.env } });
}

async function createKey(fleet: Fleet, limit: string): Promise<string> {
  const created = await fleet.gateways[0]!.cli("keys", "create", "--name", "k", "--limit", limit, "--json");
  const { secret } = JSON.parse(created);
  await until("the key to be known", async () => {
    const response = await fleet.gateways[0]!.call("/v1/models", {
      headers: { authorization: `Bearer ${secret}`, connection: "close" },
    });
    return response.status === 200 ? true : undefined;
  });
  return secret;
}

/** Uses a new connection for each request, so that the system chooses a worker for it. */
async function statusOf(fleet: Fleet, request: ChatRequest): Promise<number> {
  const response = await fleet.chat({ ...request, isOnNewConnection: true });
  await response.text();
  return response.status;
}

async function generate(fleet: Fleet, key: string): Promise<number> {
  const response = await fleet.gateways[0]!.call("/v1/images/generations", {
    body: { model: IMAGE_MODEL, prompt: "a lighthouse", size: "1024x1024" },
    headers: { authorization: `Bearer ${key}`, connection: "close" },
  });
  await response.arrayBuffer();
  return response.status;
}

/** Sends so many concurrent requests on separate connections that every process gets more than the limit. */
async function flood(
  fleet: Fleet,
): Promise<{ served: number; refused: number; others: number; waits: number[] }> {
  const responses = await Promise.all(
    Array.from({ length: TRIES }, async (_, index) => {
      const gateway = fleet.gateways[index % fleet.gateways.length]!;
      const response = await fleet.chat({ gateway, isOnNewConnection: true });
      await response.text();
      return { status: response.status, wait: Number(response.headers.get("retry-after")) };
    }),
  );
  const refused = responses.filter(({ status }) => status === 429);
  const served = responses.filter(({ status }) => status === 200).length;
  return {
    served,
    refused: refused.length,
    others: responses.length - served - refused.length,
    waits: refused.map(({ wait }) => wait),
  };
}

/** Returns the metric that is 1 while each process counts separately and enforces its share of the limits. */
async function degraded(url: string): Promise<number> {
  const text = await fetch(`${url}/metrics`).then((response) => response.text());
  return Number(/^gateway_limits_degraded (\d)/m.exec(text)?.[1]);
}
