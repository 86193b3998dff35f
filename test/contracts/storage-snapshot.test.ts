import type { Route } from "../../src/domain/channel.ts";
import type { Model } from "../../src/domain/model.ts";
import { PatternMap } from "../../src/lib/pattern-map.ts";
import { beforeAll, expect, test } from "bun:test";
import type { Channel } from "../../src/domain/channel.ts";
import type { PriceRow } from "../../src/domain/price.ts";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import { openSnapshot, type LiveSnapshot } from "../../src/storage/snapshot/snapshot.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { aBudget, aKey, anOrganization, BY, hashOf, onEachDatabase } from "./storage-harness.ts";

const channel: Channel = { id: "known", provider: "sandbox", settings: {} };
const shipped: PriceRow = {
  unit: "token",
  perMillion: { input: 1n, output: 1n },
  currency: "USD",
  source: "default",
  effectiveFrom: 0,
  effectiveUntil: null,
};
const USD = { id: "", currency: "USD" };
const configured = {
  models: new PatternMap<Model>(),
  channels: new Map([["known", channel]]),
  routes: new PatternMap<Route>(),
  prices: new PatternMap<PriceRow>(new Map([["m", shipped]])),
};

onEachDatabase("The snapshot", (databases) => {
  let database: Database;
  let stores: Stores;
  beforeAll(async () => {
    database = await databases.open(await databases.location());
    await migrate(database);
    stores = storesOn(database);
    await stores.admin.organizations.create(anOrganization("org_a"), BY);
    await stores.admin.keys.create(aKey("key_a", "org_a"), BY);
  });

  async function withSnapshot(
    work: (snapshot: LiveSnapshot, problems: string[]) => Promise<void>,
    options: { database?: Database; monotonic?: () => number; maxKeys?: number } = {},
  ): Promise<void> {
    const problems: string[] = [];
    const snapshot = await openSnapshot(options.database ?? database, {
      configured,
      clock: options.monotonic ? { now: Date.now, monotonic: options.monotonic } : systemClock,
      onProblem: (message) => problems.push(message),
      maxKeys: options.maxKeys,
    });
    try {
      await work(snapshot, problems);
    } finally {
      snapshot.stop();
    }
  }

  /** Returns the milliseconds until a condition is true. Fails after a second. */
  async function within1s(condition: () => boolean): Promise<number> {
    const start = performance.now();
    while (!condition()) {
      if (performance.now() - start > 1000) throw new Error("it did not happen within a second");
      await Bun.sleep(5);
    }
    return performance.now() - start;
  }

  test("a change made by another process is in force within a second, and so is a revocation", () =>
    withSnapshot(async (snapshot) => {
      const other = storesOn(database).admin;
      const before = snapshot.directory();
      await other.organizations.update("org_a", () => ({ name: "renamed" }), BY);
      const renamed = await within1s(
        () => snapshot.directory().organizations.get("org_a")?.name === "renamed",
      );
      expect(before.organizations.get("org_a")!.name).not.toBe("renamed");
      expect(snapshot.key(hashOf("key_a"))).toMatchObject({ isDisabled: false });
      await other.keys.update("key_a", () => ({ isDisabled: true }), BY);
      const isRevoked = () => (snapshot.key(hashOf("key_a")) as { isDisabled: boolean }).isDisabled;
      const revoked = await within1s(isRevoked);
      await other.keys.update("key_a", () => ({ isDisabled: false }), BY);
      console.log(
        `change seen after ${renamed.toFixed(0)} ms, revocation after ${revoked.toFixed(0)} ms (${databases.kind})`,
      );
    }));

  test("a rotated key is accepted by both secrets until the overlap ends", () =>
    withSnapshot(async (snapshot) => {
      const { keys } = storesOn(database).admin;
      const endsAt = Date.now() + 3_600_000;
      await keys.create(aKey("key_rotated", "org_a"), BY);
      expect(await snapshot.key(hashOf("key_rotated"))).toMatchObject({ expiresAt: null });
      const second = { hash: hashOf("second secret"), prefix: "gk_2" };
      expect(await keys.rotate("key_rotated", second, endsAt, BY)).toBe(true);
      await snapshot.refresh();
      expect(snapshot.key(hashOf("key_rotated"))).toMatchObject({ id: "key_rotated", expiresAt: endsAt });
      expect(await snapshot.key(second.hash)).toMatchObject({ prefix: "gk_2", expiresAt: null });
      await withSnapshot(async (fresh) => {
        expect(await fresh.key(hashOf("key_rotated"))).toMatchObject({ expiresAt: endsAt });
      });
      const third = { hash: hashOf("third secret"), prefix: "gk_3" };
      await keys.rotate("key_rotated", third, endsAt - 5000, BY);
      await snapshot.refresh();
      for (const hash of [hashOf("key_rotated"), second.hash])
        expect(snapshot.key(hash)).toMatchObject({ expiresAt: endsAt - 5000 });
    }));

  test("a deleted key is refused under all its secrets, and never comes back", () =>
    withSnapshot(async (snapshot) => {
      const { keys } = storesOn(database).admin;
      await keys.create(aKey("key_deleted", "org_a"), BY);
      const second = { hash: hashOf("of key_deleted"), prefix: "gk_2" };
      await keys.rotate("key_deleted", second, Date.now() + 3_600_000, BY);
      const hashes = [hashOf("key_deleted"), second.hash];
      for (const hash of hashes) expect(await snapshot.key(hash)).toMatchObject({ id: "key_deleted" });
      expect(await keys.remove("key_deleted", BY)).toBe(true);
      expect(await keys.remove("key_deleted", BY)).toBe(false);
      await snapshot.refresh();
      const isOver = (key: { expiresAt: number | null }) => key.expiresAt! <= Date.now();
      for (const hash of hashes) expect(isOver((await snapshot.key(hash))!)).toBe(true);
      await withSnapshot(async (fresh) => {
        for (const hash of hashes) expect(isOver((await fresh.key(hash))!)).toBe(true);
      });
      expect(await keys.get("key_deleted")).toBeNull();
      expect((await keys.list("org_a")).map(({ id }) => id)).not.toContain("key_deleted");
      expect(await keys.isRetired(hashOf("key_deleted"))).toBe(true);
    }));

  test("a new key is found at once, by one query for any number of requests", () =>
    withSnapshot(async (snapshot) => {
      await stores.admin.keys.create(
        aKey("key_new", "org_a", { scopes: ["ai:llm"], models: ["m"], addresses: ["10.0.0.0/8"] }),
        BY,
      );
      const lookups = [snapshot.key(hashOf("key_new")), snapshot.key(hashOf("key_new"))];
      expect(lookups[0]).toBe(lookups[1]!);
      const key = (await lookups[0])!;
      expect(key).toMatchObject({ id: "key_new", organizationId: "org_a", prefix: "gk_abcd" });
      expect(key.scopes).toEqual(new Set(["ai:llm"]));
      expect(["m", "n"].map((id) => key.models !== "*" && key.models.has(id))).toEqual([true, false]);
      expect([key.addresses!.has("10.1.2.3"), key.addresses!.has("11.0.0.1")]).toEqual([true, false]);
      expect(snapshot.key(hashOf("key_new"))).toBe(key);
    }));

  test("an unknown key is remembered as unknown until something changes", () =>
    withSnapshot(async (snapshot) => {
      const hash = hashOf("key_late");
      expect(await snapshot.key(hash)).toBeNull();
      expect(snapshot.key(hash)).toBeNull();
      await stores.admin.keys.create(aKey("key_late", "org_a"), BY);
      await snapshot.refresh();
      expect((await snapshot.key(hash))?.id).toBe("key_late");
    }));

  test("a lookup that overlaps a revocation does not restore the old key", async () => {
    await stores.admin.keys.create(aKey("key_raced", "org_a"), BY);
    const gate = Promise.withResolvers<void>();
    let isHeld = false;
    const slow: Database = {
      ...database,
      read: async (query, timeoutMs) => {
        const answer = await database.read(query, timeoutMs);
        if (isHeld && timeoutMs !== undefined) await gate.promise;
        return answer;
      },
    };
    await withSnapshot(
      async (snapshot) => {
        await snapshot.key(hashOf("key_a"));
        isHeld = true;
        const racing = snapshot.key(hashOf("key_raced"));
        await stores.admin.keys.update("key_raced", () => ({ isDisabled: true }), BY);
        await snapshot.refresh();
        gate.resolve();
        expect(await racing).toMatchObject({ isDisabled: true });
        expect(snapshot.key(hashOf("key_raced"))).toMatchObject({ isDisabled: true });
      },
      { database: slow, maxKeys: 0 },
    );
  });

  test("a refresh begins after the change that its caller knows of, whatever runs already", async () => {
    await stores.admin.keys.create(aKey("key_changed", "org_a"), BY);
    const gate = Promise.withResolvers<void>();
    const hasRead = Promise.withResolvers<void>();
    let isHeld = false;
    const slow: Database = {
      ...database,
      async read(query, timeoutMs) {
        const isFirst = isHeld;
        const answer = await database.read(query, timeoutMs);
        if (isFirst) {
          hasRead.resolve();
          await gate.promise;
        }
        return answer;
      },
    };
    await withSnapshot(
      async (snapshot) => {
        await snapshot.key(hashOf("key_changed"));
        isHeld = true;
        const early = snapshot.refresh();
        await hasRead.promise;
        isHeld = false;
        await stores.admin.keys.update("key_changed", () => ({ isDisabled: true }), BY);
        const late = snapshot.refresh();
        gate.resolve();
        await Promise.all([early, late]);
        expect(snapshot.key(hashOf("key_changed"))).toMatchObject({ isDisabled: true });
      },
      { database: slow },
    );
  });

  test("budgets reach the organization and the key they apply to", () =>
    withSnapshot(async (snapshot) => {
      const key = () => snapshot.key(hashOf("key_a"));
      expect(key()).toMatchObject({ budgets: [] });
      await stores.admin.budgets.create(aBudget("budget_org", 5n), BY);
      await stores.admin.budgets.create(aBudget("budget_key", 5n, { keyId: "key_a" }), BY);
      await snapshot.refresh();
      expect(snapshot.directory().organizations.get("org_a")!.budgets).toEqual(["budget_org"]);
      expect(key()).toMatchObject({ budgets: ["budget_key"] });
      await stores.admin.budgets.remove("budget_key", BY);
      await stores.admin.budgets.remove("budget_org", BY);
      await snapshot.refresh();
      expect(snapshot.directory().organizations.get("org_a")!.budgets).toEqual([]);
      expect(key()).toMatchObject({ budgets: [] });
    }));

  test("a price is in force from its time until it is ended", () =>
    withSnapshot(async (snapshot) => {
      const perMillion = { input: 9n, output: 9n };
      const row = {
        organizationId: "org_a",
        model: "m",
        currency: "USD",
        effectiveUntil: null,
        createdAt: 1,
      };
      const price = { unit: "token", perMillion } as const;
      await stores.admin.prices.add({ ...row, id: "price_a", effectiveFrom: 100, price }, BY);
      await snapshot.refresh();
      const input = (id: string, now: number) => {
        const found = snapshot.directory().price({ ...USD, id }, "m", "token", now);
        return found?.unit === "token" ? found.perMillion.input : null;
      };
      expect(input("org_a", 99)).toMatchObject({ amount: 1n, source: "default" });
      expect(input("org_a", 100)).toMatchObject({ amount: 9n, source: "organization" });
      expect(input("org_b", 100)).toMatchObject({ amount: 1n, source: "default" });
      expect(await stores.admin.prices.end("price_a", 200, BY)).toBe(true);
      expect(await stores.admin.prices.end("price_a", 300, BY)).toBe(false);
      expect(await stores.admin.prices.end("price_b", 300, BY)).toBe(false);
      await snapshot.refresh();
      expect([input("org_a", 199)?.amount, input("org_a", 200)?.amount]).toEqual([9n, 1n]);
    }));

  test("an own route follows its channels; one to an unknown channel is left out and reported", () =>
    withSnapshot(async (snapshot, problems) => {
      const target = { channel: "known", upstreamModel: "u", weight: 1 };
      const routes = {
        good: { strategy: "ordered" as const, targets: [target] },
        bad: { strategy: "ordered" as const, targets: [target, { ...target, channel: "gone" }] },
      };
      await stores.admin.organizations.create(anOrganization("org_routes", { routes }), BY);
      await snapshot.refresh();
      const own = snapshot.directory().organizations.get("org_routes")!.routes;
      expect([...own.keys()]).toEqual(["good"]);
      expect(own.get("good")!.targets[0]!.channel).toBe(channel);
      expect(problems.join()).toContain("gone");
    }));

  test("during an outage known keys are found and an unknown one is a dependency error", async () => {
    let isDown = false;
    const down = async (): Promise<never> => {
      throw new DependencyError("down");
    };
    const failing: Database = {
      ...database,
      read: (query, timeoutMs) => (isDown ? down() : database.read(query, timeoutMs)),
    };
    let now = 0;
    await withSnapshot(
      async (snapshot) => {
        isDown = true;
        await expect(snapshot.refresh()).rejects.toBeInstanceOf(DependencyError);
        expect(snapshot.key(hashOf("key_a"))).toMatchObject({ id: "key_a" });
        expect(snapshot.directory().organizations.has("org_a")).toBe(true);
        await expect(Promise.resolve(snapshot.key(hashOf("never seen")))).rejects.toBeInstanceOf(
          DependencyError,
        );
        now += 16 * 60_000;
        expect(() => snapshot.key(hashOf("key_a"))).toThrow(DependencyError);
        isDown = false;
        await snapshot.refresh();
        expect(snapshot.key(hashOf("key_a"))).toMatchObject({ id: "key_a" });
        expect(await snapshot.key(hashOf("never seen"))).toBeNull();
      },
      { database: failing, monotonic: () => now },
    );
  });

  if (databases.kind === "sqlite") return;

  test("with a frozen or dead server a lookup fails within a second", () =>
    withSnapshot(async (snapshot) => {
      const unknown = async (name: string) => {
        const start = performance.now();
        const lookup = Promise.resolve(snapshot.key(hashOf(name)));
        await expect(lookup).rejects.toBeInstanceOf(DependencyError);
        expect(snapshot.key(hashOf("key_a"))).toMatchObject({ id: "key_a" });
        return performance.now() - start;
      };
      databases.server().freeze();
      const frozen = await unknown("frozen");
      const take = stores.leases.take("frozen", [{ budget: "none", needed: 1n, wanted: 1n }]);
      await expect(take).rejects.toBeInstanceOf(DependencyError);
      databases.server().thaw();
      await databases.server().crash();
      const dead = await unknown("dead");
      expect(frozen).toBeLessThan(1500);
      expect(dead).toBeLessThan(1500);
      await databases.server().restart();
      const back = performance.now();
      for (let answer; answer === undefined;) {
        answer = await Promise.resolve(snapshot.key(hashOf("dead"))).catch(() => undefined);
      }
      console.log(
        `unknown key answered after ${frozen.toFixed(0)} ms frozen, ${dead.toFixed(0)} ms dead, ` +
          `${(performance.now() - back).toFixed(0)} ms after the server came back`,
      );
    }));
});
