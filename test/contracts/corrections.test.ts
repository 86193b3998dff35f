import { beforeAll, expect, test } from "bun:test";
import { getCharge } from "../../src/admin/ledger/ledger.ts";
import type { ChargeHistory } from "../../src/admin/ledger/store-port.ts";
import type { AdminContext } from "../../src/admin/context.ts";
import type { LedgerEntry } from "../../src/domain/ledger.ts";
import type { Integer } from "../../src/storage/database/expressions.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { correctPrice, refund } from "../support/admin-calls.ts";
import { adminContext, NOW, refusal } from "../support/admin-context.ts";
import { aBudget, anEntry, anOrganization, BY, onEachDatabaseAndPooler } from "./storage-harness.ts";

const HOUR_MS = 3_600_000;
/** Prices per million tokens. Each entry of this suite has one million tokens of each kind. */
const CORRECTED = { perMillion: { input: "0.2", output: "0.3" } };

onEachDatabaseAndPooler("Corrections", (databases) => {
  let stores: Stores;
  let context: AdminContext;
  let count = 0;
  beforeAll(async () => {
    const database = await databases.open(await databases.location());
    await migrate(database);
    stores = storesOn(database);
    context = { ...(await adminContext()), store: stores.admin };
  });

  /** Creates an organization with a budget and the given number of charges of 0.60 each. */
  async function refcounts(charges: number, change: Partial<LedgerEntry> = {}) {
    count += 1;
    const organizationId = `org_${count}`;
    const budget = `budget_${count}`;
    await stores.admin.organizations.create(anOrganization(organizationId), BY);
    await stores.admin.budgets.create(aBudget(budget, 10n ** 15n, { organizationId }), BY);
    const entries = Array.from({ length: charges }, (_, index) =>
      anEntry(`${organizationId}-${String(index).padStart(4, "0")}`, 600_000_000n, {
        organizationId,
        budgets: [budget],
        at: NOW - HOUR_MS + Math.floor(index / 3),
        usage: { unit: "token", tokens: { input: 1_000_000, output: 1_000_000 }, source: "upstream" },
        ...change,
      }),
    );
    await stores.ledger.post("", entries);
    const spent = async () => (await stores.admin.budgets.get(budget))!.spent;
    return { organizationId, budget, entries, spent };
  }

  const correctionOf = (organizationId: string | null, change = {}) => ({
    organizationId,
    model: "sandbox-chat",
    from: NOW - 2 * HOUR_MS,
    reason: "a zero too many",
    ...CORRECTED,
    ...change,
  });

  test("a dry run shows what would change and changes nothing", async () => {
    const { organizationId, spent } = await refcounts(5);
    expect(await correctPrice(context, correctionOf(organizationId), { dryRun: true })).toMatchObject({
      isApplied: false,
      charges: 5,
      adjusted: 5,
      difference: -500_000_000n,
      organizations: [{ id: organizationId, adjusted: 5, difference: -500_000_000n }],
    });
    expect(await spent()).toBe(3_000_000_000n);
    expect(await stores.ledger.list({ organizationId, limit: 100 })).toHaveLength(5);
  });

  test("a correction over several transactions makes every charge cost the corrected price, once", async () => {
    const { organizationId, budget, entries, spent } = await refcounts(450);
    const since = performance.now();
    const done = await correctPrice(context, correctionOf(organizationId), { dryRun: false });
    console.log(`450 charges corrected in ${Math.round(performance.now() - since)} ms (${databases.kind})`);
    expect(done).toMatchObject({ isApplied: true, adjusted: 450, difference: -45_000_000_000n });
    expect(await correctPrice(context, correctionOf(organizationId), { dryRun: false })).toMatchObject({
      isApplied: false,
      adjusted: 0,
    });
    expect(await spent()).toBe(450n * 500_000_000n);
    expect(await stores.ledger.sumOfBudget(budget)).toBe(450n * 500_000_000n);
    const { corrections, net } = await getCharge(context, entries[7]!.id);
    expect(net).toBe(500_000_000n);
    expect(corrections).toMatchObject([
      { id: `${entries[7]!.id}:1`, kind: "refund", amount: -100_000_000n, usage: null, at: NOW },
    ]);
    const audited = await stores.audit.list({ subject: "sandbox-chat", limit: 10 });
    expect(audited).toHaveLength(1);
    expect(audited[0]).toMatchObject({
      actor: "test",
      kind: "ledger",
      after: { reason: "a zero too many", adjusted: 450, difference: "-45000000000" },
    });
  });

  test("a second correction by another price builds on the first", async () => {
    const { organizationId, entries, spent } = await refcounts(4);
    await correctPrice(context, correctionOf(organizationId), { dryRun: false });
    const dearer = correctionOf(organizationId, { perMillion: { input: "1", output: "1" } });
    expect(await correctPrice(context, dearer, { dryRun: false })).toMatchObject({
      difference: 6_000_000_000n,
    });
    const { corrections, net } = await getCharge(context, entries[0]!.id);
    expect(corrections.map(({ id }) => id)).toEqual([`${entries[0]!.id}:1`, `${entries[0]!.id}:2`]);
    expect(net).toBe(2_000_000_000n);
    expect(await spent()).toBe(8_000_000_000n);
  });

  test("simultaneous corrections correct once", async () => {
    const { organizationId, spent } = await refcounts(30);
    const runs = await Promise.allSettled(
      [1, 2, 3].map(() => correctPrice(context, correctionOf(organizationId), { dryRun: false })),
    );
    expect(runs.every(({ status }) => status === "fulfilled")).toBe(true);
    expect(await spent()).toBe(30n * 500_000_000n);
  });

  test("a default price corrects only charges at a default price, in every organization", async () => {
    const byDefault = await refcounts(1, { model: "big-chat" });
    const byOwn = await refcounts(1, { model: "big-chat", priceSource: "organization" });
    const foreign = await refcounts(1, { model: "big-chat", currency: "EUR" });
    const done = await correctPrice(context, correctionOf(null, { model: "big-chat" }), { dryRun: false });
    expect(done).toMatchObject({ charges: 2, unrated: 1, adjusted: 1 });
    expect(await byDefault.spent()).toBe(500_000_000n);
    expect(await byOwn.spent()).toBe(600_000_000n);
    expect(await foreign.spent()).toBe(600_000_000n);
  });

  test("only charges of the range are corrected", async () => {
    const { organizationId, entries } = await refcounts(9);
    const range = { from: entries[3]!.at, to: entries[6]!.at };
    expect(await correctPrice(context, correctionOf(organizationId, range), { dryRun: false })).toMatchObject(
      {
        adjusted: 3,
      },
    );
    const backwards = correctPrice(context, correctionOf(organizationId, { to: 5 }), { dryRun: false });
    expect(await refusal(backwards)).toEqual([400, "to", "to must be later than from"]);
  });

  test("a request counts by the time of its admission, however late it was charged", async () => {
    const before = await refcounts(2, { admittedAt: NOW - 3 * HOUR_MS });
    expect(await correctPrice(context, correctionOf(before.organizationId), { dryRun: false })).toMatchObject(
      {
        charges: 0,
        adjusted: 0,
      },
    );
    const { organizationId } = await refcounts(3, { at: NOW + HOUR_MS, admittedAt: NOW - HOUR_MS });
    expect(await correctPrice(context, correctionOf(organizationId), { dryRun: false })).toMatchObject({
      adjusted: 3,
    });
  });

  test("a correction of a charge of a past period does not change the running one", async () => {
    const { organizationId, spent, budget } = await refcounts(2);
    await stores.database.begin(
      (sql) =>
        sql`UPDATE budgets SET period = 'day', period_start = ${Date.now() + HOUR_MS} WHERE id = ${budget}`,
    );
    await correctPrice(context, correctionOf(organizationId), { dryRun: false });
    expect(await spent()).toBe(1_200_000_000n);
    expect(await stores.ledger.sumOfBudget(budget)).toBe(1_000_000_000n);
    const periods = await stores.database.read(
      (sql) => sql<{ period_start: Integer }[]>`SELECT DISTINCT period_start FROM ledger_bookings
        WHERE budget = ${budget} AND kind <> 'charge'`,
    );
    expect(periods.map((row) => Number(row.period_start))).toEqual([0]);
  });

  test("a refund gives back what is left and never more", async () => {
    const { entries, spent } = await refcounts(1);
    const { id } = entries[0]!;
    const reason = "a blurred picture";
    expect(await refund(context, id, { amount: "0.25", reason })).toMatchObject({
      id: `${id}:1`,
      amount: -250_000_000n,
    });
    expect(await refusal(refund(context, id, { amount: "0.36", reason }))).toEqual([
      400,
      "amount",
      `only 0.35 of "${id}" is left to refund`,
    ]);
    expect(await refund(context, id, { reason })).toMatchObject({ id: `${id}:2`, amount: -350_000_000n });
    expect(await refusal(refund(context, id, { reason }))).toEqual([409, "id", expect.any(String)]);
    expect(await refusal(refund(context, "none", { reason }))).toEqual([404, "id", expect.any(String)]);
    expect(await refusal(refund(context, id, {}))).toEqual([400, "reason", expect.any(String)]);
    expect(await spent()).toBe(0n);
    const audited = await stores.audit.list({ subject: id, limit: 10 });
    expect(audited.map(({ after }) => after)).toEqual([
      { reason, amount: "350000000", currency: "USD" },
      { reason, amount: "250000000", currency: "USD" },
    ]);
  });

  test("simultaneous refunds give back no more than was charged", async () => {
    const { entries, spent } = await refcounts(1);
    const tries = await Promise.allSettled(
      Array.from({ length: 5 }, () =>
        refund(context, entries[0]!.id, { amount: "0.25", reason: "twice clicked" }),
      ),
    );
    expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(await spent()).toBe(100_000_000n);
  });

  test("each of several corrections knows those before it", async () => {
    const { entries, spent } = await refcounts(1);
    const { id } = entries[0]!;
    let count = 0;
    const once = ({ charge, corrections }: ChargeHistory): LedgerEntry | null => {
      count += 1;
      const entry = { ...charge, id: `${id}:${count}`, kind: "refund" as const, corrects: id };
      return corrections.length === 0 ? { ...entry, amount: -100_000_000n } : null;
    };
    const written = await Promise.all(
      Array.from({ length: 5 }, () => stores.admin.ledger.correct([id], once, null)),
    );
    expect(written.flat()).toHaveLength(1);
    expect(await spent()).toBe(500_000_000n);
  });

  test("a correction after a refund never makes a charge negative", async () => {
    const { organizationId, entries, spent } = await refcounts(1);
    await refund(context, entries[0]!.id, { amount: "0.55", reason: "late" });
    expect(await correctPrice(context, correctionOf(organizationId), { dryRun: false })).toMatchObject({
      difference: -50_000_000n,
    });
    expect(await spent()).toBe(0n);
    expect(await correctPrice(context, correctionOf(organizationId), { dryRun: false })).toMatchObject({
      adjusted: 0,
    });
  });

  test("a posted correction is the same when it is read back", async () => {
    const { entries } = await refcounts(1);
    const entry = {
      ...entries[0]!,
      id: "posted:1",
      kind: "refund" as const,
      amount: -1n,
      corrects: entries[0]!.id,
    };
    await stores.ledger.post("", [entry]);
    const read = { ...entry, sequence: expect.any(Number) };
    expect(await stores.ledger.find("posted:1", "refund")).toEqual(read);
    expect((await getCharge(context, entries[0]!.id)).corrections).toEqual([read]);
  });
});
