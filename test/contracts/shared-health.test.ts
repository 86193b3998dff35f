import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Health, type Ejection } from "../../src/gateway/routing/health.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { SharedHealth } from "../../src/storage/counters/shared-health.ts";
import { findRedis, startRedis, type PrivateRedis } from "../support/redis.ts";

const found = findRedis();
if ("missing" in found) console.log(`SKIPPED shared health on Redis: ${found.missing}`);

describe.skipIf("missing" in found)("shared health", () => {
  let redis: PrivateRedis;
  const opened: SharedHealth[] = [];

  beforeAll(async () => {
    redis = await startRedis("binary" in found ? found.binary : "");
  });
  afterAll(async () => {
    for (const shared of opened) shared.close();
    await redis.stop();
  });

  async function open(prefix: string, url = redis.url) {
    const apply: Ejection[] = [];
    const shared = new SharedHealth({ url, prefix, onEjection: (ejection) => apply.push(ejection) });
    opened.push(shared);
    await shared.ready;
    return { shared, apply };
  }

  test("an ejection is known to every other process within a second, and not told back", async () => {
    const one = await open("tell:");
    const others = [await open("tell:"), await open("tell:")];
    const startedAt = performance.now();
    one.shared.announce({ target: "channel/model", reason: "account", durationMs: 60_000 });
    await until(() => others.every(({ apply }) => apply.length > 0));
    const tookMs = performance.now() - startedAt;
    console.log(`an ejection reached two other processes in ${tookMs.toFixed(1)} ms`);
    expect(tookMs).toBeLessThan(1_000);
    for (const { apply } of others) {
      expect(apply).toEqual([{ target: "channel/model", reason: "account", durationMs: 60_000 }]);
    }
    expect(one.apply).toEqual([]);
  });

  test("a process that starts later learns what is still in force, for the rest of its time", async () => {
    const { shared } = await open("late:");
    shared.announce({ target: "long", reason: "overload", durationMs: 60_000 });
    shared.announce({ target: "short", reason: "overload", durationMs: 50 });
    const watcher = await open("late:");
    await until(() => watcher.apply.some(({ target }) => target === "long"));
    await Bun.sleep(60);
    const { apply } = await open("late:");
    await until(() => apply.length > 0);
    expect(new Set(apply.map(({ target }) => target))).toEqual(new Set(["long"]));
    expect(apply[0]!.durationMs).toBeWithin(50_000, 59_951);
    expect(await redis.ask("PTTL", ["late:ejections"])).toBeWithin(60_000, 120_001);
  });

  test("words of no sense are not heard", async () => {
    const { apply } = await open("junk:");
    const teller = await open("junk:");
    for (const junk of [
      "",
      "{",
      "null",
      '{"target":"t"}',
      '{"from":"p","target":"t","reason":"r","durationMs":5}',
    ]) {
      await redis.ask("PUBLISH", ["junk:ejected", junk]);
    }
    teller.shared.announce({ target: "real", reason: "limited", durationMs: 500 });
    await until(() => apply.length > 0);
    expect(apply.map(({ target }) => target)).toEqual(["real"]);
  });

  test("a lost store changes nothing locally, and what is in force is heard when it returns", async () => {
    const server = await startRedis("binary" in found ? found.binary : "");
    try {
      const one = await open("lost:", server.url);
      const health = new Health(systemClock, (ejection) => one.shared.announce(ejection));
      const other = await open("lost:", server.url);
      const otherHealth = new Health(systemClock, (ejection) => other.shared.announce(ejection));
      await server.crash();
      health.apply({ target: "kept", reason: "overload", durationMs: 60_000 });
      one.shared.announce({ target: "unsaid", reason: "overload", durationMs: 60_000 });
      expect(health.ejections().map(({ target }) => target)).toEqual(["kept"]);
      await server.restart();
      await until(() => {
        one.shared.announce({ target: "said", reason: "overload", durationMs: 60_000 });
        for (const ejection of other.apply) otherHealth.apply(ejection);
        return otherHealth.ejections().length > 0;
      });
      expect(otherHealth.ejections().map(({ target }) => target)).toEqual(["said"]);
    } finally {
      await server.stop();
    }
  });

  test("without a store at the start everything goes on alone", async () => {
    const { shared, apply } = await open("none:", "redis://127.0.0.1:1");
    shared.announce({ target: "any", reason: "overload", durationMs: 1_000 });
    expect(apply).toEqual([]);
  });
});

async function until(isMet: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!isMet()) {
    if (performance.now() > deadline) throw new Error("it did not come about within five seconds");
    await Bun.sleep(5);
  }
}
