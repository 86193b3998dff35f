import { beforeAll, expect, setSystemTime, test } from "bun:test";
import fc from "fast-check";
import { fullestBudgets } from "../../src/admin/overview/fullest-budgets.ts";
import { readOwnUsage } from "../../src/admin/usage/own-usage.ts";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import type { BudgetRequest } from "../../src/gateway/metering/stores.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { leaseStore, LEASES_A_TRANSACTION } from "../../src/storage/budgets/leases.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { createBudget } from "../support/admin-calls.ts";
import { adminContext } from "../support/admin-context.ts";
import { aBudget, anEntry, anOrganization, BY, onEachDatabaseAndPooler } from "./storage-harness.ts";

const MINUTE_MS = 60_000;

onEachDatabaseAndPooler("Money", (databases) => {
  let location: string;
  let database: Database;
  let stores: Stores;
  let count = 0;
  beforeAll(async () => {
    location = await databases.location();
    database = await databases.open(location);
    await migrate(database);
    stores = storesOn(database);
  });
  const newBudget = async (amount: bigint, change = {}) => {
    count += 1;
    const budget = aBudget(`budget_${String(count).padStart(6, "0")}`, amount, change);
    await stores.admin.budgets.create(budget, BY);
    return budget.id;
  };
  const stateOf = async (budget: string) => {
    const record = await stores.admin.budgets.get(budget);
    return { spent: record!.spent, held: record!.held };
  };
  const expire = (lease: string) =>
    database.begin((sql) => sql`UPDATE leases SET expires_at = ${Date.now() - 1000} WHERE lease = ${lease}`);
  test("a taking grants between what is needed and what is wanted, and returns what is left", async () => {
    const budget = await newBudget(100n);
    const first = await stores.leases.take("lease", [{ budget, needed: 10n, wanted: 60n }]);
    expect(first).toEqual({ granted: new Map([[budget, 60n]]), left: new Map([[budget, 40n]]) });
    const second = await stores.leases.take("lease", [{ budget, needed: 10n, wanted: 60n }]);
    expect(second).toEqual({ granted: new Map([[budget, 40n]]), left: new Map([[budget, 0n]]) });
    const third = await stores.leases.take("lease", [{ budget, needed: 1n, wanted: 60n }]);
    expect(third).toEqual({ exhausted: budget, left: 0n, heldByOthers: 0n });
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 100n });
  });

  test("take from several budgets grants all or none", async () => {
    const rich = await newBudget(100n);
    const poor = await newBudget(5n);
    const requests = [
      { budget: rich, needed: 10n, wanted: 10n },
      { budget: poor, needed: 10n, wanted: 10n },
    ];
    expect(await stores.leases.take("lease", requests)).toEqual({
      exhausted: poor,
      left: 5n,
      heldByOthers: 0n,
    });
    expect(await stateOf(rich)).toEqual({ spent: 0n, held: 0n });
  });

  test("two requests for one budget cannot take the same money", async () => {
    const budget = await newBudget(10n);
    const request = { budget, needed: 6n, wanted: 6n };
    expect(await stores.leases.take("lease", [request, request])).toEqual({
      exhausted: budget,
      left: 10n,
      heldByOthers: 0n,
    });
  });

  test("a budget that was removed limits nothing", async () => {
    const budget = await newBudget(1n);
    await stores.leases.take("lease", [{ budget, needed: 1n, wanted: 1n }]);
    await stores.admin.budgets.remove(budget, BY);
    expect(await stores.leases.renew("lease", [budget])).toEqual(new Map());
    const answer = await stores.leases.take("lease", [{ budget, needed: 5n, wanted: 7n }]);
    expect(answer).toEqual({ granted: new Map(), left: new Map() });
    expect(await stores.ledger.post("lease", [anEntry("on-removed", 3n, { budgets: [budget] })])).toBe(1);
  });

  test("what is given back can be taken again, and no more than was held", async () => {
    const budget = await newBudget(100n);
    await stores.leases.take("giver", [{ budget, needed: 1n, wanted: 30n }]);
    await stores.leases.giveBack("giver", new Map([[budget, 10n]]));
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 20n });
    await stores.leases.giveBack("giver", new Map([[budget, 1000n]]));
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 0n });
  });

  test("an entry moves what it cost from held to spent, once", async () => {
    const budget = await newBudget(100n);
    await stores.leases.take("payer", [{ budget, needed: 30n, wanted: 30n }]);
    const entry = anEntry(`pay-${budget}`, 12n, { budgets: [budget] });
    expect(await stores.ledger.post("payer", [entry, entry])).toBe(1);
    expect(await stores.ledger.post("payer", [entry])).toBe(0);
    expect(await stateOf(budget)).toEqual({ spent: 12n, held: 18n });
    expect(await stores.ledger.find(entry.id, "charge")).toMatchObject(entry);
    expect(await stores.ledger.sumOfBudget(budget)).toBe(12n);
  });

  test("an entry without a lease, or above it, counts in full", async () => {
    const budget = await newBudget(100n);
    await stores.leases.take("small", [{ budget, needed: 5n, wanted: 5n }]);
    await stores.ledger.post("small", [anEntry(`over-${budget}`, 9n, { budgets: [budget] })]);
    await stores.ledger.post("nobody", [anEntry(`bare-${budget}`, 1n, { budgets: [budget] })]);
    expect(await stateOf(budget)).toEqual({ spent: 10n, held: 0n });
  });

  test("only refunds and adjustments may be negative, and they do not change what is held", async () => {
    const budget = await newBudget(100n);
    await stores.leases.take("refunder", [{ budget, needed: 50n, wanted: 50n }]);
    const charge = anEntry(`refunded-${budget}`, 20n, { budgets: [budget] });
    await stores.ledger.post("refunder", [charge, { ...charge, kind: "refund", amount: -15n }]);
    expect(await stateOf(budget)).toEqual({ spent: 5n, held: 30n });
    await expect(stores.ledger.post("refunder", [anEntry("negative", -1n)])).rejects.toThrow();
    expect(await stores.ledger.find("negative", "charge")).toBeNull();
  });

  test("the ledger is listed by organization and time, newest first", async () => {
    const entry = (id: string, at: number) => anEntry(id, 1n, { at, organizationId: "org_listed" });
    await stores.ledger.post("", [entry("l1", 10), entry("l2", 20), entry("l3", 30), entry("l4", 40)]);
    const list = await stores.ledger.list({ organizationId: "org_listed", from: 20, to: 40, limit: 10 });
    expect(list.map(({ id }) => id)).toEqual(["l3", "l2"]);
    const newest = await stores.ledger.list({ organizationId: "org_listed", limit: 1 });
    expect(newest.map(({ id }) => id)).toEqual(["l4"]);
  });

  test("a batch larger than one statement is booked completely", async () => {
    const budget = await newBudget(10_000n);
    const entries = Array.from({ length: 777 }, (_, index) =>
      anEntry(`bulk-${budget}-${index}`, 2n, { budgets: [budget] }),
    );
    expect(await stores.ledger.post("bulk", entries)).toBe(777);
    expect(await stateOf(budget)).toEqual({ spent: 1554n, held: 0n });
  });

  test("a renewal counts by the store's time and returns what was drawn", async () => {
    const budget = await newBudget(10n);
    await stores.leases.take("renewer", [{ budget, needed: 1n, wanted: 5n }]);
    await expire("renewer");
    expect(await stores.leases.renew("renewer", [budget])).toEqual(new Map([[budget, 5n]]));
    expect(await stores.admin.budgets.writeOff("renewer", BY)).toEqual([]);
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 5n });
    expect(await stores.leases.renew("unknown", [budget])).toEqual(new Map());
  });

  test("what a vanished process holds stays held until its journal is posted", async () => {
    const budget = await newBudget(100n);
    await stores.leases.take("vanished", [{ budget, needed: 1n, wanted: 40n }]);
    await expire("vanished");
    expect(await stores.leases.processesInDoubt()).toContain("vanished");
    expect(await stores.admin.budgets.leasesInDoubt()).toContainEqual(
      expect.objectContaining({ processId: "vanished", budget, amount: 40n }),
    );
    expect(await stores.leases.take("other", [{ budget, needed: 61n, wanted: 61n }])).toEqual({
      exhausted: budget,
      left: 60n,
      heldByOthers: 40n,
    });
    await stores.ledger.post("vanished", [anEntry(`late-${budget}`, 40n, { budgets: [budget] })]);
    await stores.leases.release("vanished");
    expect(await stateOf(budget)).toEqual({ spent: 40n, held: 0n });
    expect(await stores.leases.processesInDoubt()).not.toContain("vanished");
  });

  test("a lease that holds money is kept for days, an empty one for one day", async () => {
    const budget = await newBudget(100n);
    await stores.leases.take("absent", [{ budget, needed: 1n, wanted: 40n }]);
    await stores.leases.take("emptied", [{ budget, needed: 1n, wanted: 5n }]);
    await stores.leases.giveBack("emptied", new Map([[budget, 5n]]));
    await stores.leases.take("written off", [{ budget, needed: 1n, wanted: 5n }]);
    await stores.leases.giveBack("written off", new Map([[budget, 5n]]));
    await expire("written off");
    const longAgo = Date.now() - 25 * 60 * MINUTE_MS;
    await database.begin(
      (sql) => sql`UPDATE leases SET expires_at = ${longAgo} WHERE lease IN ('absent', 'emptied')`,
    );
    for (let sweep = 0; sweep < 2; sweep += 1)
      expect(await stores.leases.processesInDoubt()).toContain("absent");
    expect(await stores.leases.renew("emptied", [budget])).toEqual(new Map());
    expect(await stores.leases.renew("written off", [budget])).toEqual(new Map([[budget, 0n]]));
    expect(await stores.leases.renew("absent", [budget])).toEqual(new Map([[budget, 40n]]));
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 40n });
  });

  test("an operator writes off what a vanished process holds, once and with an audit row", async () => {
    const budget = await newBudget(100n);
    await stores.leases.take("lost", [{ budget, needed: 1n, wanted: 40n }]);
    await stores.leases.take("alive", [{ budget, needed: 1n, wanted: 7n }]);
    expect(await stores.admin.budgets.writeOff("lost", BY)).toEqual([]);
    await expire("lost");
    const written = await Promise.all([1, 2, 3].map(() => stores.admin.budgets.writeOff("lost", BY)));
    expect(written.flat()).toMatchObject([{ processId: "lost", budget, amount: 40n }]);
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 7n });
    expect(await stores.leases.renew("lost", [budget])).toEqual(new Map([[budget, 0n]]));
    expect(await stores.admin.audit.list({ subject: "lost", limit: 10 })).toMatchObject([
      { kind: "budget", action: "update" },
    ]);
  });

  test("a lease is closed when it is empty, and keeps what requests hold of it", async () => {
    const budget = await newBudget(100n);
    await stores.leases.take("closing", [{ budget, needed: 1n, wanted: 40n }]);
    await stores.leases.close("closing", new Map([[budget, 10n]]));
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 30n });
    expect(await stores.leases.renew("closing", [budget])).toEqual(new Map([[budget, 30n]]));
    await stores.leases.close("closing", new Map([[budget, 30n]]));
    expect(await stores.leases.renew("closing", [budget])).toEqual(new Map());
  });

  test("a process is released although a budget of its leases was removed meanwhile", async () => {
    const budget = await newBudget(100n);
    await stores.leases.take("releasing", [{ budget, needed: 1n, wanted: 40n }]);
    await database.begin((sql) => sql`DELETE FROM budgets WHERE id = ${budget}`);
    await stores.leases.release("releasing");
    expect(await stores.leases.renew("releasing", [budget])).toEqual(new Map());
  }, 10_000);

  test("releasing a process returns all that it holds, once", async () => {
    const budgets = [await newBudget(10n), await newBudget(10n)];
    await stores.leases.take(
      "ended",
      budgets.map((budget) => ({ budget, needed: 1n, wanted: 4n })),
    );
    await stores.leases.release("ended");
    await stores.leases.release("ended");
    for (const budget of budgets) expect(await stateOf(budget)).toEqual({ spent: 0n, held: 0n });
  });

  test("a new period begins with nothing spent and what is held still held", async () => {
    const budget = await newBudget(100n, { period: "day", spent: 90n, periodStart: 0 });
    await database.begin((sql) => sql`UPDATE budgets SET held = 4 WHERE id = ${budget}`);
    expect(await stores.leases.take("p", [{ budget, needed: 50n, wanted: 50n }])).toHaveProperty("granted");
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 54n });
  });

  test("a settlement that comes first in a new period counts in it", async () => {
    const budget = await newBudget(100n, { period: "month", spent: 90n, periodStart: 0 });
    const at = Date.now();
    await stores.ledger.post("", [anEntry(`month-${budget}`, 3n, { budgets: [budget], at })]);
    expect(await stateOf(budget)).toEqual({ spent: 3n, held: 0n });
    await stores.leases.take("p", [{ budget, needed: 1n, wanted: 1n }]);
    expect(await stateOf(budget)).toEqual({ spent: 3n, held: 1n });
  });

  test("a charge of a period that is over leaves its lease and does not count in the next", async () => {
    const budget = await newBudget(100n, { period: "day", spent: 90n, periodStart: 0 });
    await database.begin((sql) => sql`UPDATE budgets SET held = 4 WHERE id = ${budget}`);
    await database.begin(
      (sql) => sql`INSERT INTO leases (lease, budget, amount, drawn, expires_at)
        VALUES ('yesterday', ${budget}, 4, 4, ${Date.now() + MINUTE_MS})`,
    );
    const at = Date.now() - 25 * 60 * MINUTE_MS;
    const charge = anEntry(`late-${budget}`, 4n, { budgets: [budget], at });
    await stores.ledger.post("yesterday", [charge]);
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 0n });
    const refund = { ...charge, id: `refund-${budget}`, kind: "refund", amount: -4n } as const;
    await stores.admin.ledger.correct([charge.id], () => ({ ...refund, corrects: charge.id }), null);
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 0n });
  });

  test("a budget whose period is over shows nothing spent, by the store's clock", async () => {
    const budget = await newBudget(100n, { period: "day", spent: 90n, periodStart: 0 });
    const now = Date.now();
    setSystemTime(0);
    const shown = await stores.admin.budgets.get(budget);
    setSystemTime();
    expect(shown!.spent).toBe(0n);
    expect(now - shown!.periodStart).toBeLessThan(25 * 60 * MINUTE_MS);
  });

  test.each([-30, 26])(
    "the use of a budget follows the store's clock, by one %i hours off",
    async (hours) => {
      const organizationId = `org_${hours}`;
      await stores.admin.organizations.create(anOrganization(organizationId), BY);
      const context = { ...(await adminContext()), store: stores.admin, clock: systemClock };
      setSystemTime(Date.now() + hours * 60 * MINUTE_MS);
      const { id } = await createBudget(context, { organizationId, amount: "1", period: "day" });
      await stores.ledger.post("", [anEntry(`use-${id}`, 800_000_000n, { budgets: [id], at: Date.now() })]);
      const [use] = await fullestBudgets(context, organizationId, 1);
      const owner = { keyId: "key_a", currency: "USD", budgets: [id] };
      const own = await readOwnUsage(stores.admin, owner, 1, Date.now());
      setSystemTime();
      expect(use).toMatchObject({ id, spent: "0.80" });
      expect(Date.now() - Date.parse(use!.periodStart)).toBeWithin(0, 25 * 60 * MINUTE_MS);
      expect(own.budgets).toMatchObject([{ spent: "0.80", period_end: use!.periodEnd }]);
      // If the budget followed the process's clock, the period would be over and the forecast would equal the spent
      // amount. The charge is large, because rounding could make the forecast from a small charge equal too.
      expect(use!.forecast).not.toBe(use!.spent);
    },
  );

  test("a budget is known to be nearly spent, and spent, since the charge that made it so", async () => {
    const { budgets } = stores.admin;
    const organizationId = "org_levels";
    const listed = async () => {
      const found = await budgets.nearlySpent({ organizationIds: [organizationId], limit: 10 });
      return found.map(({ id, nearSince, spentSince }) => [id, nearSince !== null, spentSince !== null]);
    };
    const budget = await newBudget(100n, { organizationId });
    const zero = await newBudget(0n, { organizationId });
    const daily = await newBudget(100n, { organizationId, period: "day" });
    const post = (id: string, amount: bigint, ids = [budget]) =>
      stores.ledger.post("", [anEntry(`level-${id}-${budget}`, amount, { at: Date.now(), budgets: ids })]);
    await post("little", 79n);
    expect(await listed()).toEqual([]);
    const before = Date.now() - 1_000;
    await post("near", 1n, [budget, zero]);
    expect(await listed()).toEqual([[budget, true, false]]);
    const since = (await budgets.get(budget))!.nearSince;
    expect(since).toBeWithin(before, Date.now() + 1_000);
    await post("daily", 90n, [daily]);
    await post("spent", 20n);
    expect(await listed()).toEqual([
      [budget, true, true],
      [daily, true, false],
    ]);
    expect((await budgets.get(budget))!.nearSince).toBe(since);
    expect(await budgets.nearlySpent({ organizationIds: ["org_other"], limit: 10 })).toEqual([]);
    expect(await budgets.nearlySpent({ organizationIds: [], limit: 10 })).toEqual([]);
    await budgets.update(budget, () => ({ amount: 1_000n }), BY);
    await database.begin((sql) => sql`UPDATE budgets SET period_start = 1 WHERE id = ${daily}`);
    expect(await listed()).toEqual([]);
    await budgets.update(budget, () => ({ amount: 100n }), BY);
    expect(await listed()).toEqual([[budget, true, true]]);
  });

  test("the budgets that are spent most come first, by their share and not by their amount", async () => {
    const [little, most, some] = [await newBudget(1_000n), await newBudget(10n), await newBudget(100n)];
    for (const [budget, amount] of [
      [little, 60n],
      [most, 9n],
      [some, 50n],
    ] as const)
      await stores.ledger.post("", [anEntry(`most-${budget}`, amount, { budgets: [budget] })]);
    const all = (await stores.admin.budgets.mostSpent(10_000)).map(({ id }) => id);
    expect(all.filter((id) => [little, most, some].includes(id))).toEqual([most, some, little]);
    expect((await stores.admin.budgets.mostSpent(2)).map(({ id }) => id)).toEqual(all.slice(0, 2));
  });

  test("a budget that was spent in a period that has ended comes after one with a part of it spent", async () => {
    const daily = await newBudget(100n, { period: "day" });
    const monthly = await newBudget(100n, { period: "month" });
    const total = await newBudget(100n);
    const order = async () => {
      const all = (await stores.admin.budgets.mostSpent(10_000)).map(({ id }) => id);
      return all.filter((id) => [daily, monthly, total].includes(id));
    };
    for (const [budget, amount] of [
      [daily, 90n],
      [monthly, 80n],
      [total, 1n],
    ] as const)
      await stores.ledger.post("", [
        anEntry(`ended-${budget}`, amount, { at: Date.now(), budgets: [budget] }),
      ]);
    expect(await order()).toEqual([daily, monthly, total]);
    for (const ended of [daily, monthly]) {
      await database.begin((sql) => sql`UPDATE budgets SET period_start = 1 WHERE id = ${ended}`);
      expect(await order()).toEqual(ended === daily ? [monthly, total, daily] : [total, daily, monthly]);
    }
  });

  test.each([-30, 26])("a charge counts on the day of the store, by a clock %i hours off", async (hours) => {
    const budget = await newBudget(100n, { period: "day", periodStart: 0 });
    setSystemTime(Date.now() + hours * 60 * MINUTE_MS);
    const charge = anEntry(`skewed-${budget}`, 4n, { budgets: [budget], at: Date.now() });
    await stores.ledger.post("", [charge]);
    const refund = { ...charge, id: `skewed-refund-${budget}`, kind: "refund", amount: -1n } as const;
    await stores.admin.ledger.correct([charge.id], () => ({ ...refund, corrects: charge.id }), null);
    setSystemTime();
    expect(await stateOf(budget)).toEqual({ spent: 3n, held: 0n });
  });

  test("a lease without money is not in doubt when it ends", async () => {
    const budget = await newBudget(100n);
    const processId = `empty-${budget}`;
    await stores.leases.take(processId, [{ budget, needed: 10n, wanted: 10n }]);
    await database.begin((sql) => sql`UPDATE leases SET expires_at = 1 WHERE lease = ${processId}`);
    expect(await stores.leases.processesInDoubt()).toContain(processId);
    await stores.leases.giveBack(processId, new Map([[budget, 10n]]));
    expect(await stores.leases.processesInDoubt()).not.toContain(processId);
  });

  test("a refund reduces the period of its charge while that is running", async () => {
    const budget = await newBudget(100n, { period: "day", periodStart: 0 });
    const charge = anEntry(`today-${budget}`, 4n, { budgets: [budget], at: Date.now() });
    await stores.ledger.post("", [charge]);
    const refund = { ...charge, id: `refund-${budget}`, kind: "refund", amount: -4n } as const;
    await stores.admin.ledger.correct([charge.id], () => ({ ...refund, corrects: charge.id }), null);
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 0n });
  });

  test("a store clock that was far ahead once does not stop resets", async () => {
    const inTwoYears = Date.now() + 2 * 365 * 24 * 60 * MINUTE_MS;
    const budget = await newBudget(100n, { period: "day", spent: 90n, periodStart: inTwoYears });
    expect(await stores.leases.take("p", [{ budget, needed: 50n, wanted: 50n }])).toHaveProperty("exhausted");
    await stores.leases.take("p", [{ budget, needed: 1n, wanted: 1n }]);
    const { periodStart } = (await stores.admin.budgets.get(budget))!;
    expect(periodStart).toBeLessThanOrEqual(Date.now());
    expect(await stateOf(budget)).toEqual({ spent: 90n, held: 1n });
    const yesterday = periodStart - 24 * 60 * MINUTE_MS;
    await database.begin((sql) => sql`UPDATE budgets SET period_start = ${yesterday} WHERE id = ${budget}`);
    await stores.leases.take("p", [{ budget, needed: 50n, wanted: 50n }]);
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 51n });
  });

  test("a corrected period has all bookings of its day, and the ledger agrees", async () => {
    const budget = await newBudget(100n, { period: "day", periodStart: 0 });
    const post = (id: string, amount: bigint) =>
      stores.ledger.post("", [anEntry(`${id}-${budget}`, amount, { budgets: [budget], at: Date.now() })]);
    await post("before", 20n);
    const { periodStart } = (await stores.admin.budgets.get(budget))!;
    // Simulates a store whose clock was ten days ahead. That store has written a period with a booking.
    const ahead = periodStart + 10 * 24 * 60 * MINUTE_MS;
    await post("meanwhile", 3n);
    await database.begin(async (sql) => {
      await sql`UPDATE budgets SET spent = 3, period_start = ${ahead} WHERE id = ${budget}`;
      await sql`UPDATE ledger_bookings SET period_start = ${ahead} WHERE entry = ${`meanwhile-${budget}`}`;
    });
    await stores.leases.take("p", [{ budget, needed: 1n, wanted: 1n }]);
    expect(await stores.admin.budgets.get(budget)).toMatchObject({ spent: 23n, periodStart });
    await post("after", 4n);
    expect((await stores.admin.budgets.get(budget))!.spent).toBe(27n);
    const { differences } = await stores.admin.ledger.verify();
    expect(differences.filter(({ subject }) => subject === budget)).toEqual([]);
  });

  test("a store clock that jumps back resets no period again", async () => {
    const tomorrow = Date.now() + 26 * 60 * MINUTE_MS;
    const budget = await newBudget(100n, { period: "day", spent: 90n, periodStart: tomorrow });
    const answer = await stores.leases.take("p", [{ budget, needed: 50n, wanted: 50n }]);
    expect(answer).toEqual({ exhausted: budget, left: 10n, heldByOthers: 0n });
    expect((await stores.admin.budgets.get(budget))!.periodStart).toBe(tomorrow);
  });

  test("leases of several transactions are renewed, returned and released", async () => {
    const many = 4 * LEASES_A_TRANSACTION + 1;
    await database.begin(async (sql) => {
      await sql`INSERT INTO budgets (id, organization_id, amount, period, spent, held, period_start, created_at, revision)
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${many})
        SELECT 'many_' || n, 'org_many', 100, 'total', 0, 10, 0, 0, 0 FROM numbers`;
      await sql`INSERT INTO leases (lease, budget, amount, drawn, expires_at)
        SELECT 'many', id, 10, 10, 1 FROM budgets WHERE organization_id = 'org_many'`;
    }, MINUTE_MS);
    const ids = Array.from({ length: many }, (_, index) => `many_${index + 1}`);
    const held = async () => {
      const [row] = await database.read(
        (sql) => sql<{ sum: string }[]>`SELECT CAST(SUM(held) AS TEXT) AS sum FROM budgets
          WHERE organization_id = 'org_many'`,
      );
      return Number(row!.sum);
    };
    expect((await stores.leases.renew("many", ids)).size).toBe(many);
    await stores.leases.giveBack("many", new Map(ids.map((id) => [id, 4n])));
    expect(await held()).toBe(many * 6);
    await stores.leases.close("many", new Map(ids.slice(0, 500).map((id) => [id, 6n])));
    expect((await stores.leases.renew("many", ids)).size).toBe(many - 500);
    await stores.leases.release("many");
    expect(await held()).toBe(0);
    expect((await stores.leases.renew("many", ids)).size).toBe(0);
    await database.begin((sql) => sql`DELETE FROM budgets WHERE organization_id = 'org_many'`);
  }, 60_000);

  // SQLite locks the whole database during a write.
  if (databases.kind === "postgres")
    test("posting waits for no lease outside of its batch", async () => {
      const [charged, busy] = [await newBudget(10n), await newBudget(10n)];
      for (const budget of [charged, busy])
        await stores.leases.take("poster", [{ budget, needed: 1n, wanted: 5n }]);
      const { promise: posted, resolve } = Promise.withResolvers<void>();
      const { promise: locked, resolve: hasLocked } = Promise.withResolvers<void>();
      const blocker = database.begin(async (sql) => {
        await sql`SELECT * FROM leases WHERE lease = 'poster' AND budget = ${busy} FOR UPDATE`;
        hasLocked();
        await posted;
      });
      await locked;
      await stores.ledger
        .post("poster", [anEntry(`apart-${charged}`, 1n, { budgets: [charged] })])
        .finally(resolve);
      await blocker;
      expect(await stateOf(charged)).toEqual({ spent: 1n, held: 4n });
    });

  test("a taking prolongs the lease that it grows", async () => {
    const budget = await newBudget(10n);
    await stores.leases.take("prolonged", [{ budget, needed: 1n, wanted: 1n }]);
    await expire("prolonged");
    expect(await stores.leases.processesInDoubt()).toContain("prolonged");
    await stores.leases.take("prolonged", [{ budget, needed: 1n, wanted: 1n }]);
    expect(await stores.leases.processesInDoubt()).not.toContain("prolonged");
  });

  test("64 takers over three processes are granted exactly the whole budget", async () => {
    const budget = await newBudget(1000n);
    const handles = await Promise.all([1, 2, 3].map(() => databases.open(location)));
    const takers = handles.map((handle) => leaseStore(handle));
    // Each taker has its own name, by which its results are compared with the store.
    const told = Array.from({ length: 64 }, () => ({ granted: 0n, hasMissedAnswer: false }));
    const taker = async (index: number) => {
      for (;;) {
        const request: BudgetRequest = { budget, needed: 1n, wanted: BigInt(1 + (index % 7)) };
        const answer = await takers[index % 3]!.take(`taker-${index}`, [request]).catch((error: unknown) => {
          if (error instanceof DependencyError) return null;
          throw error;
        });
        // On a busy machine, a call may be rolled back after a long wait, or the result may come too late.
        if (!answer) told[index]!.hasMissedAnswer = true;
        else if ("exhausted" in answer) return;
        else told[index]!.granted += answer.granted.get(budget)!;
      }
    };
    await Promise.all(told.map((_, index) => taker(index)));
    let drawn = 0n;
    for (const [index, { granted, hasMissedAnswer }] of told.entries()) {
      const own = (await stores.leases.renew(`taker-${index}`, [budget])).get(budget) ?? 0n;
      drawn += own;
      if (!hasMissedAnswer) expect(granted).toBe(own);
      expect(granted).toBeLessThanOrEqual(own);
    }
    expect(drawn).toBe(1000n);
    expect(await stateOf(budget)).toEqual({ spent: 0n, held: 1000n });
  });

  test("processes that settle, take and give back the same budgets never deadlock", async () => {
    const one = await newBudget(1_000_000n);
    const other = await newBudget(1_000_000n);
    const entries = Array.from({ length: 30 }, (_, index) =>
      anEntry(`cross-${one}-${index}`, 3n, { budgets: index % 2 ? [one, other] : [other, one] }),
    );
    const work = Array.from({ length: 24 }, async (_, index) => {
      const lease = `cross-${index % 4}`;
      const budgets = index % 2 ? [one, other] : [other, one];
      await stores.leases.take(
        lease,
        budgets.map((budget) => ({ budget, needed: 1n, wanted: 50n })),
      );
      await stores.ledger.post(lease, index % 2 ? entries : entries.toReversed());
      await stores.leases.renew(lease, budgets);
      await stores.leases.giveBack(lease, new Map(budgets.map((budget) => [budget, 20n])));
    });
    await Promise.all(work);
    for (const budget of [one, other]) {
      expect((await stateOf(budget)).spent).toBe(90n);
      expect(await stores.ledger.sumOfBudget(budget)).toBe(90n);
    }
  });

  const runs = databases.kind === "sqlite" ? 300 : 60;
  test(`budgets equal a plain model after any history (${runs} runs)`, async () => {
    await fc.assert(
      fc.asyncProperty(histories(), async (history) => {
        const budgets = [await newBudget(200n), await newBudget(300n)];
        await followHistory(history, budgets);
      }),
      { numRuns: runs, seed: 42, endOnFailure: true },
    );
  }, 60_000);

  async function followHistory(history: readonly Step[], budgets: readonly string[]): Promise<void> {
    const model = newModel(budgets.map((id, index) => ({ id, amount: index === 0 ? 200n : 300n })));
    const run = budgets[0]!;
    for (const step of history) {
      const lease = `${run}-lease-${step.lease}`;
      const chosen = budgets.filter((_, index) => step.which & (1 << index));
      switch (step.kind) {
        case "take": {
          const requests = chosen.map((budget) => ({
            budget,
            needed: step.amount,
            wanted: step.amount * 2n,
          }));
          expect(await stores.leases.take(lease, requests)).toEqual(model.take(lease, requests));
          break;
        }
        case "post": {
          const entries = step.entries.map((entry) =>
            anEntry(`${run}-${entry}`, BigInt(entry), { budgets: budgets.slice(0, 1 + (entry % 2)) }),
          );
          expect(await stores.ledger.post(lease, entries)).toBe(model.post(lease, entries));
          break;
        }
        case "giveBack": {
          const amounts = new Map(chosen.map((budget) => [budget, step.amount]));
          await stores.leases.giveBack(lease, amounts);
          model.giveBack(lease, amounts);
          break;
        }
        case "expire": {
          await expire(lease);
          await stores.admin.budgets.writeOff(lease, BY);
          model.release(lease);
          break;
        }
        case "release":
          await stores.leases.release(lease);
          model.release(lease);
      }
    }
    for (const budget of budgets) {
      expect(await stateOf(budget)).toEqual(model.stateOf(budget));
      expect(await stores.ledger.sumOfBudget(budget)).toBe(model.stateOf(budget).spent);
    }
  }
});

interface Step {
  kind: "take" | "post" | "giveBack" | "expire" | "release";
  lease: number;
  /** Bits that select budgets. */
  which: number;
  amount: bigint;
  /** Entries by amount. The amount is also the entry's name, so a repeated amount is a replay. */
  entries: number[];
}

function histories(): fc.Arbitrary<Step[]> {
  const step = fc.record<Step>({
    kind: fc.constantFrom("take", "take", "take", "post", "post", "post", "giveBack", "expire", "release"),
    lease: fc.integer({ min: 0, max: 2 }),
    which: fc.integer({ min: 1, max: 3 }),
    amount: fc.bigInt({ min: 0n, max: 60n }),
    entries: fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 6 }),
  });
  return fc.array(step, { minLength: 1, maxLength: 14 });
}

/** The rules of budgets and leases in a few lines with BigInt, for comparison. */
function newModel(budgets: readonly { id: string; amount: bigint }[]) {
  const spent = new Map(budgets.map(({ id }) => [id, 0n]));
  const amounts = new Map(budgets.map(({ id, amount }) => [id, amount]));
  const leases = new Map<string, bigint>();
  const posted = new Set<string>();
  const name = (lease: string, budget: string) => `${lease} ${budget}`;
  const held = (budget: string) =>
    [...leases].reduce(
      (sum, [budgetLease, amount]) => (budgetLease.endsWith(` ${budget}`) ? sum + amount : sum),
      0n,
    );
  const shrink = (lease: string, budget: string, amount: bigint) => {
    const budgetLease = leases.get(name(lease, budget)) ?? 0n;
    leases.set(name(lease, budget), amount < budgetLease ? budgetLease - amount : 0n);
  };
  return {
    stateOf: (budget: string) => ({ spent: spent.get(budget)!, held: held(budget) }),
    take(lease: string, requests: readonly BudgetRequest[]) {
      const rest = (budget: string) => amounts.get(budget)! - spent.get(budget)! - held(budget);
      const exhausted = requests.find((request) => rest(request.budget) < request.needed);
      if (exhausted) {
        const own = leases.get(name(lease, exhausted.budget)) ?? 0n;
        const { budget } = exhausted;
        return { exhausted: budget, left: rest(budget), heldByOthers: held(budget) - own };
      }
      const granted = new Map<string, bigint>();
      const left = new Map<string, bigint>();
      for (const { budget, wanted } of requests) {
        const amount = wanted < rest(budget) ? wanted : rest(budget);
        left.set(budget, rest(budget) - amount);
        granted.set(budget, amount);
        leases.set(name(lease, budget), (leases.get(name(lease, budget)) ?? 0n) + amount);
      }
      return { granted, left };
    },
    post(lease: string, entries: readonly { id: string; amount: bigint; budgets: readonly string[] }[]) {
      const before = posted.size;
      for (const { id, amount, budgets } of entries) {
        if (posted.has(id)) continue;
        posted.add(id);
        for (const budget of budgets) {
          spent.set(budget, spent.get(budget)! + amount);
          shrink(lease, budget, amount);
        }
      }
      return posted.size - before;
    },
    giveBack(lease: string, back: ReadonlyMap<string, bigint>) {
      for (const [budget, amount] of back) shrink(lease, budget, amount);
    },
    release(lease: string) {
      for (const budgetLease of leases.keys())
        if (budgetLease.startsWith(`${lease} `)) leases.delete(budgetLease);
    },
  };
}
