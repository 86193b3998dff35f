import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Limiter } from "../../src/gateway/admission/limits.ts";
import { MemoryLimiter } from "../../src/gateway/admission/memory-limiter.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { RedisLimiter, type RedisLimiterOptions } from "../../src/storage/counters/redis-limiter.ts";
import { findRedis, startRedis, type PrivateRedis } from "../support/redis.ts";
import { WINDOW_MS, admitted, contract, count, isAdmitted, until, request } from "./limiter-contract.ts";

const found = findRedis();
if ("missing" in found) console.log(`SKIPPED the limiter on Redis: ${found.missing}`);
const withRedis = describe.skipIf("missing" in found);

describe("limiter in memory", () => {
  let monotonic = 1_000;
  contract((windowMs = WINDOW_MS) => ({
    limiter: new MemoryLimiter({ clock: { now: () => 0, monotonic: () => monotonic }, windowMs }),
    pass: async (durationMs) => {
      monotonic += durationMs;
    },
  }));
});

withRedis("limiter on Redis", () => {
  let redis: PrivateRedis;
  const opened: RedisLimiter[] = [];
  let prefixes = 0;

  beforeAll(async () => {
    redis = await startRedis("binary" in found ? found.binary : "");
  });
  afterAll(async () => {
    for (const limiter of opened) limiter.close();
    await redis.stop();
  });

  async function open(options: Partial<RedisLimiterOptions> = {}) {
    const states: boolean[] = [];
    prefixes += 1;
    const limiter = new RedisLimiter({
      url: redis.url,
      prefix: `test${prefixes}:`,
      processes: () => 2,
      clock: systemClock,
      boundMs: 1_000,
      windowMs: WINDOW_MS,
      onDegraded: (isDegraded) => states.push(isDegraded),
      ...options,
    });
    opened.push(limiter);
    await limiter.ready;
    return { limiter, states };
  }

  contract(async (windowMs = WINDOW_MS) => ({
    limiter: (await open({ windowMs })).limiter,
    pass: (durationMs) => Bun.sleep(durationMs),
  }));

  test("three processes that hammer one limit of ten are admitted ten times in sum", async () => {
    const workers = Array.from({ length: 3 }, () =>
      Bun.spawn({
        cmd: [process.execPath, `${import.meta.dir}/limiter-worker.ts`, redis.url, "300", "10"],
        stdio: ["pipe", "pipe", "inherit"],
      }),
    );
    const outputs = workers.map((worker) => worker.stdout.getReader());
    for (const output of outputs) await output.read();
    for (const worker of workers) {
      worker.stdin.write("go\n");
      await worker.stdin.end();
    }
    const admitted = await Promise.all(
      outputs.map(async (output) => Number(new TextDecoder().decode((await output.read()).value))),
    );
    await Promise.all(workers.map((worker) => worker.exited));
    console.log(`10 a minute on three processes, 900 tries: ${admitted.join(" + ")} admitted`);
    expect(admitted.reduce((sum, count) => sum + count, 0)).toBe(10);
  });

  test("two limiters see one count, and corrections of one reach the other", async () => {
    const prefix = "pair:";
    const one = (await open({ prefix })).limiter;
    const other = (await open({ prefix })).limiter;
    const reservation = await admitted(one, [request("tokens", "org", 100, 80)]);
    expect(await isAdmitted(other, [request("tokens", "org", 100, 30)])).toBe(false);
    reservation.correct("tokens", -60);
    await until(async () => isAdmitted(other, [request("tokens", "org", 100, 30)]));
  });

  test("a request whose correction has resolved is counted exactly by the next take of another process", async () => {
    const prefix = "next:";
    const options = { prefix, windowMs: 60_000 };
    const limiters = [await open(options), await open(options), await open(options)];
    const taken: boolean[] = [];
    for (let turn = 0; turn < 300; turn += 1) {
      const verdict = await limiters[turn % 3]!.limiter.take([request("tokens", "org", 1_000, 900)]);
      taken.push(verdict.isAdmitted);
      if (!verdict.isAdmitted) continue;
      const correcting = verdict.reservation.correct("tokens", turn < 250 ? -900 : 100);
      expect(correcting).toBeInstanceOf(Promise);
      await correcting;
    }
    // An increase by correction is counted exactly too: afterwards nothing is left of the limit.
    expect(taken).toEqual(Array.from({ length: 300 }, (_, turn) => turn <= 250));
  });

  test("slots of a process that died come back, those of a living one are kept", async () => {
    const prefix = "slots:";
    const slotMs = 300;
    const dying = (await open({ prefix, slotMs })).limiter;
    const living = (await open({ prefix, slotMs })).limiter;
    const dead = request("concurrent_images", "dead", 1);
    const alive = request("concurrent_images", "alive", 1);
    const shared = request("concurrent_images", "shared", 2);
    await admitted(dying, [dead]);
    await admitted(dying, [shared]);
    await admitted(living, [shared]);
    await admitted(living, [alive]);
    expect(await isAdmitted(living, [dead])).toBe(false);
    expect(await isAdmitted(living, [shared])).toBe(false);
    dying.close();
    await until(async () => isAdmitted(living, [dead]));
    await until(async () => isAdmitted(living, [shared]));
    expect(await isAdmitted(living, [shared])).toBe(false);
    await Bun.sleep(slotMs * 2);
    expect(await isAdmitted(living, [alive])).toBe(false);
  });

  test("keys go away by themselves", async () => {
    const { limiter } = await open({ prefix: "idle:", slotMs: 200 });
    await admitted(limiter, [request("requests", "org", 10), request("concurrent_images", "org", 10)]);
    limiter.close();
    await until(async () => {
      const keys = await redis.ask("KEYS", ["idle:*"]);
      return Array.isArray(keys) && keys.length === 0;
    });
  });

  test("a server clock that was set back empties a window instead of closing it", async () => {
    const { limiter } = await open({ prefix: "back:" });
    const plant =
      "local far = redis.call('TIME')[1] * 1000 + 7200000; " +
      "redis.call('SET', KEYS[1], cmsgpack.pack({far, 10, far, 10, 0}))";
    await redis.ask("EVAL", [plant, "1", "back:organization:requests:org"]);
    expect(await count(limiter, [request("requests", "org", 10)], 20)).toBe(10);
  });

  test("one take of four counters is a fraction of a millisecond", async () => {
    const { limiter } = await open({ windowMs: 60_000 });
    const requests = ["org", "key"].flatMap((owner) => [
      request("requests", owner, 1e9),
      request("tokens", owner, 1e12, 2_000),
    ]);
    for (let index = 0; index < 200; index++) await limiter.take(requests);
    const startedAt = performance.now();
    for (let index = 0; index < 500; index++) await limiter.take(requests);
    const oneByOne = ((performance.now() - startedAt) * 1000) / 500;
    const pipelinedAt = performance.now();
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 50 }, () => limiter.take(requests)));
    }
    const pipelined = performance.now() - pipelinedAt;
    console.log(
      `four counters on Redis: ${oneByOne.toFixed(0)} µs one by one, ${pipelined.toFixed(0)} µs each 50 at once`,
    );
    expect(oneByOne).toBeLessThan(5_000);
  });

  test("an address without a server means limits by share from the start, without a wait", async () => {
    const { limiter, states } = await open({ url: "redis://127.0.0.1:1" });
    expect(states).toEqual([true]);
    expect(limiter.take([request("requests", "org", 10)])).not.toBeInstanceOf(Promise);
  });

  test("a store that refuses writes degrades the limits and fails no request", async () => {
    const server = await startRedis("binary" in found ? found.binary : "");
    try {
      const { limiter, states } = await open({ url: server.url });
      await server.ask("CONFIG", ["SET", "maxmemory", "1"]);
      expect(await isAdmitted(limiter, [request("requests", "org", 10)])).toBe(true);
      expect(states).toEqual([false, true]);
      await server.ask("CONFIG", ["SET", "maxmemory", "0"]);
      await until(async () => states.length === 3);
      expect(states.at(-1)).toBe(false);
    } finally {
      await server.stop();
    }
  });

  test("killed and restarted: no request fails, the share holds meanwhile, the sum is exact again after", async () => {
    const server = await startRedis("binary" in found ? found.binary : "");
    try {
      const { limiter, states } = await open({ url: server.url, windowMs: 60_000 });
      const ask = () => [request("requests", "org", 10), request("concurrent_images", "key", 3)];
      const before = await Promise.all([admitted(limiter, ask()), admitted(limiter, ask())]);
      await server.crash();
      const during = await Promise.all(Array.from({ length: 20 }, () => limiter.take(ask())));
      // This process may now grant 5 of 10 requests and 1 of 3 slots. It has granted 2 requests, and 2 slots are taken.
      expect(during.filter((verdict) => verdict.isAdmitted).length).toBe(0);
      before[0]!.release();
      before[1]!.release();
      expect(await count(limiter, [request("requests", "org", 10)], 20)).toBe(3);
      expect(states).toEqual([false, true]);
      await server.restart();
      await until(async () => states.at(-1) === false);
      expect(await count(limiter, [request("requests", "fresh", 10)], 20)).toBe(10);
      expect(await count(limiter, [request("concurrent_images", "key", 3)], 20)).toBe(3);
    } finally {
      await server.stop();
    }
  });

  test("after FLUSHALL every process writes back what it has granted", async () => {
    const prefix = "flushed:";
    const options = { prefix, windowMs: 60_000, slotMs: 60_000 };
    const [busy, quiet] = [await open(options), await open(options)];
    const asked = [request("requests", "org", 20), request("tokens", "key", 1_000, 10)];
    expect(await count(busy.limiter, asked, 8)).toBe(8);
    expect(await count(quiet.limiter, asked, 5)).toBe(5);
    const held = await admitted(busy.limiter, [request("concurrent_images", "org", 1)]);
    await redis.ask("FLUSHALL", []);
    // While counts are written back, each process may grant half of 20. The busy process has already granted 8.
    expect(await count(busy.limiter, asked, 20)).toBe(2);
    let more = 0;
    await until(async () => {
      more += await count(busy.limiter, asked, 5);
      return more > 0;
    });
    expect(more + (await count(busy.limiter, asked, 20))).toBe(20 - 8 - 5 - 2);
    expect(await count(quiet.limiter, asked, 20)).toBe(0);
    expect(await isAdmitted(quiet.limiter, [request("concurrent_images", "org", 1)])).toBe(false);
    held.release();
  }, 15_000);

  test("slots held during a restart are known to the new server", async () => {
    const server = await startRedis("binary" in found ? found.binary : "");
    try {
      const { limiter, states } = await open({ url: server.url });
      const reservation = await admitted(limiter, [request("concurrent_images", "key", 1)]);
      await server.crash();
      await server.restart();
      await until(async () => states.at(-1) === false && states.length >= 3);
      expect(await isAdmitted(limiter, [request("concurrent_images", "key", 1)])).toBe(false);
      reservation.release();
      await until(async () => isAdmitted(limiter, [request("concurrent_images", "key", 1)]));
    } finally {
      await server.stop();
    }
  });

  test("frozen: no request waits longer than the bound, and the store is used again when it thaws", async () => {
    const server = await startRedis("binary" in found ? found.binary : "");
    try {
      const { limiter, states } = await open({ url: server.url, boundMs: 50 });
      await admitted(limiter, [request("requests", "org", 100)]);
      server.freeze();
      const waits = await Promise.all(Array.from({ length: 50 }, () => waitOf(limiter)));
      console.log(
        `Redis frozen with a bound of 50 ms: longest wait of 50 requests ${Math.max(...waits).toFixed(0)} ms`,
      );
      expect(Math.max(...waits)).toBeLessThan(200);
      expect(limiter.take([request("requests", "org", 100)])).not.toBeInstanceOf(Promise);
      expect(states).toEqual([false, true]);
      server.thaw();
      await until(async () => states.at(-1) === false);
      expect(limiter.take([request("requests", "org", 100)])).toBeInstanceOf(Promise);
    } finally {
      server.thaw();
      await server.stop();
    }
  });
});

async function waitOf(limiter: Limiter): Promise<number> {
  const startedAt = performance.now();
  await limiter.take([request("requests", "org", 100)]);
  return performance.now() - startedAt;
}
