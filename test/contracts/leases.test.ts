import { afterAll, beforeAll, expect, test } from "bun:test";
import { BudgetLeases } from "../../src/gateway/metering/budget-leases.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { aBudget, anEntry, BY, onEachDatabaseAndPooler } from "./storage-harness.ts";

const PRICE = 7n;
const REQUESTS = 1000;
const TAKERS = 64;
const TRIES = 300;

onEachDatabaseAndPooler("Leases of several processes", (databases) => {
  let location: string;
  let stores: Stores;
  const processes: { leases: BudgetLeases; stores: Stores; lease: string }[] = [];
  const timers: Timer[] = [];
  beforeAll(async () => {
    location = await databases.location();
    const database = await databases.open(location);
    await migrate(database);
    stores = storesOn(database);
    for (const lease of ["proc_1", "proc_2", "proc_3"]) {
      const own = storesOn(await databases.open(location));
      const leases = new BudgetLeases(own.leases, lease, systemClock);
      timers.push(setInterval(() => void leases.yieldContended(), 250));
      processes.push({ leases, stores: own, lease });
    }
  });
  afterAll(() => timers.forEach((timer) => clearInterval(timer)));

  /** Starts takers that take repeatedly, each at one of the given processes. Returns the number of granted requests. */
  async function takeAll(budget: string, at: readonly number[]): Promise<number> {
    let count = 0;
    const taker = async (index: number) => {
      const { leases, stores: own, lease } = processes[at[index % at.length]!]!;
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const hold = await Promise.resolve(leases.hold([budget], PRICE)).catch(() => null);
        if (!hold || typeof hold === "string") {
          await Bun.sleep(5);
          continue;
        }
        count += 1;
        leases.settle(hold, PRICE);
        if (count % 50 === 0)
          await own.ledger.post(lease, [anEntry(`${budget}-${count}`, PRICE, { budgets: [budget] })]);
      }
    };
    await Promise.all(Array.from({ length: TAKERS }, (_, index) => taker(index)));
    return count;
  }

  const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(2);

  test("a budget for exactly 1,000 requests serves 1,000, though every process draws ahead of need", async () => {
    await stores.admin.budgets.create(aBudget("budget_even", PRICE * BigInt(REQUESTS)), BY);
    const since = performance.now();
    expect(await takeAll("budget_even", [0, 1, 2])).toBe(REQUESTS);
    console.log(
      `${REQUESTS} of ${REQUESTS} granted to ${TAKERS} takers at 3 processes in ${seconds(since)} s (${databases.kind})`,
    );
  });

  test("money that sits in idle processes comes to the one that needs it", async () => {
    await stores.admin.budgets.create(aBudget("budget_idle", PRICE * BigInt(REQUESTS)), BY);
    for (const { leases } of processes.slice(1)) {
      const holds = [];
      for (let count = 0; count < 3; count += 1) holds.push(await leases.hold(["budget_idle"], PRICE));
      for (const hold of holds) if (typeof hold === "object") leases.settle(hold, 0n);
    }
    const { held } = (await stores.admin.budgets.get("budget_idle"))!;
    expect(held).toBeGreaterThan(PRICE * 200n);
    const since = performance.now();
    expect(await takeAll("budget_idle", [0])).toBe(REQUESTS);
    console.log(
      `${held / PRICE} of ${REQUESTS} sat in idle processes; all granted in ${seconds(since)} s (${databases.kind})`,
    );
  });

  test("processes that hold some of a wanted budget learn of it for two seconds, others do not", async () => {
    await stores.admin.budgets.create(aBudget("budget_wanted", 10n), BY);
    const request = { budget: "budget_wanted", needed: 6n, wanted: 6n };
    await stores.leases.take("holder", [request]);
    expect(await stores.leases.contended("holder")).toEqual(new Set());
    expect(await stores.leases.take("seeker", [request])).toEqual({
      exhausted: "budget_wanted",
      left: 4n,
      heldByOthers: 6n,
    });
    expect(await stores.leases.contended("holder")).toEqual(new Set(["budget_wanted"]));
    expect(await stores.leases.contended("seeker")).toEqual(new Set());
    await stores.database.begin(
      (sql) => sql`UPDATE budgets SET wanted_until = wanted_until - 2001 WHERE id = 'budget_wanted'`,
    );
    expect(await stores.leases.contended("holder")).toEqual(new Set());
  });

  test("a renewal returns what was drawn, also after charges above it, returns and the end", async () => {
    await stores.admin.budgets.create(aBudget("budget_drawn", 100n), BY);
    const drawn = async () => (await stores.leases.renew("drawer", ["budget_drawn"])).get("budget_drawn");
    await stores.leases.take("drawer", [{ budget: "budget_drawn", needed: 10n, wanted: 10n }]);
    await stores.ledger.post("drawer", [anEntry("drawn-1", 4n, { budgets: ["budget_drawn"] })]);
    expect(await drawn()).toBe(10n);
    await stores.ledger.post("drawer", [anEntry("drawn-2", 9n, { budgets: ["budget_drawn"] })]);
    expect(await drawn()).toBe(13n);
    await stores.leases.take("drawer", [{ budget: "budget_drawn", needed: 20n, wanted: 20n }]);
    await stores.leases.giveBack("drawer", new Map([["budget_drawn", 5n]]));
    expect(await drawn()).toBe(28n);
    await stores.leases.release("drawer");
    expect(await drawn()).toBeUndefined();
    expect(await stores.admin.budgets.get("budget_drawn")).toMatchObject({ spent: 13n, held: 0n });
  });

  test("leases released while they are renewed and drawn are all returned", async () => {
    await stores.admin.budgets.create(aBudget("budget_race", 1_000_000_000n), BY);
    const [one, two] = processes;
    for (let round = 0; round < 60; round += 1) {
      const lease = `proc_race_${round}`;
      const request = { budget: "budget_race", needed: 5n, wanted: 5n };
      await one!.stores.leases.take(lease, [request]);
      await Promise.all([
        one!.stores.leases.release(lease),
        two!.stores.leases.renew(lease, ["budget_race"]),
        two!.stores.leases.take(lease, [request]),
      ]);
      // Releases what was taken after the first release.
      await one!.stores.leases.release(lease);
    }
    expect((await stores.admin.budgets.get("budget_race"))!.held).toBe(0n);
  });
});
