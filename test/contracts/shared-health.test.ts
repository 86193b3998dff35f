import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Ejection } from "../../src/gateway/routing/health.ts";
import { Health } from "../../src/gateway/routing/health.ts";
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

  test("an ejection is known to every other process within a second, and not sent back", async () => {
    const one = await open("shared:");
    const others = [await open("shared:"), await open("shared:")];
    const startedAt = performance.now();
    one.shared.announce({
      target: "channel/model",
      organization: null,
      reason: "account",
      durationMs: 60_000,
    });
    await until(() => others.every(({ apply }) => apply.length > 0));
    const tookMs = performance.now() - startedAt;
    console.log(`an ejection reached two other processes in ${tookMs.toFixed(1)} ms`);
    expect(tookMs).toBeLessThan(1_000);
    for (const { apply } of others) {
      expect(apply).toEqual([
        { target: "channel/model", organization: null, reason: "account", durationMs: 60_000 },
      ]);
    }
    expect(one.apply).toEqual([]);
  });

  test("a process that starts later learns what is still in force, for the rest of its time", async () => {
    const { shared } = await open("late:");
    shared.announce({ target: "long", organization: null, reason: "overload", durationMs: 60_000 });
    shared.announce({ target: "short", organization: null, reason: "overload", durationMs: 50 });
    const watcher = await open("late:");
    await until(() => watcher.apply.some(({ target }) => target === "long"));
    await Bun.sleep(60);
    const { apply } = await open("late:");
    await until(() => apply.length > 0);
    expect(new Set(apply.map(({ target }) => target))).toEqual(new Set(["long"]));
    expect(apply[0]!.durationMs).toBeWithin(50_000, 59_951);
    expect(await redis.ask("PTTL", ["late:ejections"])).toBeWithin(60_000, 120_001);
  });

  test("ejections of one target for several organizations are kept apart", async () => {
    const { shared } = await open("apart:");
    for (const organization of ["org_a", "org_b", null])
      shared.announce({ target: "t", organization, reason: "overload", durationMs: 60_000 });
    const reader = await open("apart:");
    await until(() => new Set(reader.apply.map(({ organization }) => organization)).size === 3);
  });

  test("malformed messages are ignored", async () => {
    const { apply } = await open("junk:");
    const sender = await open("junk:");
    for (const junk of [
      "",
      "{",
      "null",
      '{"target":"t"}',
      '{"from":"p","target":"t","reason":"r","durationMs":5}',
    ]) {
      await redis.ask("PUBLISH", ["junk:ejected", junk]);
    }
    sender.shared.announce({ target: "real", organization: null, reason: "limited", durationMs: 500 });
    await until(() => apply.length > 0);
    expect(apply.map(({ target }) => target)).toEqual(["real"]);
  });

  test("a lost store changes nothing locally, and what is in force is received when it returns", async () => {
    const server = await startRedis("binary" in found ? found.binary : "");
    try {
      const one = await open("lost:", server.url);
      const health = new Health(systemClock, (ejection) => one.shared.announce(ejection));
      const other = await open("lost:", server.url);
      const otherHealth = new Health(systemClock, (ejection) => other.shared.announce(ejection));
      await server.crash();
      health.apply({ target: "kept", organization: null, reason: "overload", durationMs: 60_000 });
      one.shared.announce({ target: "lost", organization: null, reason: "overload", durationMs: 60_000 });
      expect(health.ejections().map(({ target }) => target)).toEqual(["kept"]);
      await server.restart();
      await until(() => {
        one.shared.announce({
          target: "announced",
          organization: null,
          reason: "overload",
          durationMs: 60_000,
        });
        for (const ejection of other.apply) otherHealth.apply(ejection);
        return otherHealth.ejections().length > 0;
      });
      expect(otherHealth.ejections().map(({ target }) => target)).toEqual(["announced"]);
    } finally {
      await server.stop();
    }
  });

  test("without a store at the start each process works on its own", async () => {
    const { shared, apply } = await open("none:", "redis://127.0.0.1:1");
    shared.announce({ target: "any", organization: null, reason: "overload", durationMs: 1_000 });
    expect(apply).toEqual([]);
  });
});

async function until(isMet: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!isMet()) {
    if (performance.now() > deadline) throw new Error("the condition was not met within five seconds");
    await Bun.sleep(5);
  }
}
