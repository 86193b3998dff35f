import { beforeEach, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import type { JobStore, NewJob } from "../../src/jobs/ports.ts";
import { jobStore } from "../../src/storage/jobs/index.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { aJob } from "../support/jobs.ts";
import { until } from "../support/gateway.ts";
import { aBudget, aKey, anOrganization, BY, onEachDatabase } from "./storage-harness.ts";

/*
 * Jobs that one organization submits concurrently share a transaction. Each job must get the same decision as if
 * submitted alone.
 */
onEachDatabase("jobs submitted at once", (databases) => {
  let database: Database;
  let stores: Stores;
  let jobs: JobStore;
  let transactions: number;
  let begun: PromiseWithResolvers<void>;

  beforeEach(async () => {
    database = await databases.open(await databases.location());
    await migrate(database);
    stores = storesOn(database);
    for (const organization of ["org_a", "org_b"])
      await stores.admin.organizations.create(anOrganization(organization), BY);
    await stores.admin.keys.create(aKey("key_a", "org_a"), BY);
    await stores.admin.keys.create(aKey("key_a2", "org_a"), BY);
    await stores.admin.keys.create(aKey("key_b", "org_b"), BY);
    transactions = 0;
    begun = Promise.withResolvers();
    jobs = jobStore({
      ...database,
      begin(work, timeoutMs) {
        transactions += 1;
        begun.resolve();
        return database.begin(work, timeoutMs);
      },
    });
  });

  const submitAll = async (changes: readonly Partial<NewJob>[]): Promise<string[]> => {
    const results = await Promise.all(changes.map((change) => jobs.submit(aJob(change))));
    return results.map(({ kind }) => kind);
  };
  const claimAll = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let job = await jobs.claim("w", () => null); job; job = await jobs.claim("w", () => null))
      ids.push(job.jobId);
    return ids;
  };
  const queued = async (): Promise<Record<string, number>> => {
    const rows = await database.read(
      (sql) => sql<{ id: string; queued: bigint }[]>`SELECT id, queued FROM job_owners`,
    );
    return Object.fromEntries(rows.map((row) => [row.id, Number(row.queued)]));
  };
  const stored = async (): Promise<number> => {
    const [row] = await database.read(
      (sql) => sql<{ count: bigint }[]>`SELECT count(*) AS count FROM jobs JOIN job_requests ON job_id = id`,
    );
    return Number(row?.count);
  };

  test("one transaction takes them all, and they are run in their order", async () => {
    const all = Array.from({ length: 20 }, () => aJob());
    const results = await Promise.all(all.map((job) => jobs.submit(job)));
    expect(transactions).toBe(1);
    for (const [index, result] of results.entries()) {
      const found = await jobs.get("org_a", all[index]!.id);
      expect(result).toEqual({ kind: "accepted", job: { ...found!, readAt: expect.any(Number) } });
    }
    expect(await claimAll()).toEqual(all.map(({ id }) => id));
  });

  test("what arrives in the next turns of the event loop is in the same transaction", async () => {
    const results: Promise<unknown>[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const next = setImmediate();
      results.push(jobs.submit(aJob()));
      await next;
    }
    await Promise.all(results);
    expect(transactions).toBe(1);
  });

  test("what arrives while a transaction runs shares the next one", async () => {
    const first = jobs.submit(aJob());
    await begun.promise;
    const rest = submitAll([{}, {}, {}]);
    await first;
    expect(await rest).toEqual(["accepted", "accepted", "accepted"]);
    expect(transactions).toBe(2);
  });

  test("limits count the jobs before, and others go on where a queue is full", async () => {
    const queuedLimit = { organization: 4, key: 2 };
    const [one, two, other] = [
      { queuedLimit },
      { queuedLimit, keyId: "key_a2" },
      { organizationId: "org_b", keyId: "key_b" },
    ];
    const kinds = await submitAll([one, one, one, other, two, two, two, one]);
    const expected = ["accepted", "accepted", "full", "accepted", "accepted", "accepted", "full", "full"];
    expect(kinds).toEqual(expected);
    expect(await queued()).toEqual({ org_a: 4, key_a: 2, key_a2: 2, org_b: 1, key_b: 1 });
    expect(await stored()).toBe(5);
  });

  test("two with one idempotency key are one job, and another request with it is told so", async () => {
    const idempotency = { key: "k", fingerprint: "f" };
    const other = { key: "k", fingerprint: "g" };
    const all = [
      { idempotency },
      {},
      { idempotency },
      { idempotency: other },
      { idempotency, keyId: "key_a2" },
    ];
    const results = await Promise.all(all.map((change) => jobs.submit(aJob(change))));
    const kinds = results.map(({ kind }) => kind);
    expect(kinds).toEqual(["accepted", "accepted", "known", "other", "accepted"]);
    expect(results[2]).toMatchObject({ job: (results[0] as { job: object }).job });
    expect(await queued()).toMatchObject({ org_a: 3, key_a: 2, key_a2: 1 });
    expect(await stored()).toBe(3);
  });

  test("one that is known or finds its queue full holds no money, and a full queue hides no known one", async () => {
    await stores.admin.budgets.create(aBudget("budget_1", 1_000n), BY);
    const terms = { ...aJob().terms, budgets: ["budget_1"] };
    const queuedLimit = { organization: 1, key: null };
    const idempotency = { key: "k", fingerprint: "f" };
    const again = { terms, queuedLimit, idempotency };
    expect(await submitAll([again, again, { terms, queuedLimit }])).toEqual(["accepted", "known", "full"]);
    expect(await submitAll([again])).toEqual(["known"]);
    const rows = await database.read(
      (sql) => sql<{ held: bigint; expires_at: bigint }[]>`
        SELECT held, expires_at FROM budgets JOIN leases ON budget = budgets.id`,
    );
    expect(rows.map(({ held }) => BigInt(held))).toEqual([40n]);
    // The hold must outlast the job, however long the job waits and runs.
    const aYear = 365 * 24 * 60 * 60_000;
    expect(Number(rows[0]?.expires_at)).toBeGreaterThan(Date.now() + aYear);
  });

  test("none is told of its job before the disk has it, and a wait for the disk that has begun covers no later job", async () => {
    const waits: PromiseWithResolvers<void>[] = [];
    const slow = jobStore({
      ...database,
      persist() {
        waits.push(Promise.withResolvers());
        return waits.at(-1)!.promise;
      },
    });
    const told: string[] = [];
    const submit = (name: string, change: Partial<NewJob>) =>
      slow.submit(aJob(change)).then(({ kind }) => told.push(`${name} is ${kind}`));
    const waitFor = (count: number) => until("a wait for the disk", () => waits.length >= count || undefined);
    const idempotency = { key: "k", fingerprint: "f" };
    const first = submit("the first", { idempotency });
    await waitFor(1);
    const other = aJob({ organizationId: "org_b", keyId: "key_b" });
    const second = submit("the second", other);
    await until("the second job", async () => (await slow.get("org_b", other.id)) ?? undefined);
    waits[0]!.resolve();
    await first;
    await waitFor(2);
    expect(told).toEqual(["the first is accepted"]);
    waits[1]!.resolve();
    await second;
    const known = submit("the first again", { idempotency });
    await waitFor(3);
    expect(told).toEqual(["the first is accepted", "the second is accepted"]);
    waits[2]!.resolve();
    await known;
    expect(told.at(-1)).toBe("the first again is known");
  });

  test("money for one is held once, and those without a budget go on", async () => {
    for (const [id, amount] of [
      ["budget_1", 50n],
      ["budget_2", 1_000n],
    ] as const)
      await stores.admin.budgets.create(aBudget(id, amount), BY);
    const terms = { ...aJob().terms, budgets: ["budget_2", "budget_1"] };
    expect(await submitAll([{ terms }, { terms }, {}])).toEqual(["accepted", "exhausted", "accepted"]);
    const held = await database.read((sql) => sql<{ held: bigint }[]>`SELECT held FROM budgets ORDER BY id`);
    expect(held.map((row) => BigInt(row.held))).toEqual([40n, 40n]);
    expect(await stores.leases.processesInDoubt()).toEqual([]);
    expect(await stored()).toBe(2);
  });

  test("one that cannot be stored harms no other", async () => {
    const before = aJob();
    await jobs.submit(before);
    const all = [aJob(), aJob({ id: before.id }), aJob()];
    const results = await Promise.allSettled(all.map((job) => jobs.submit(job)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await claimAll()).toEqual([before.id, all[0]!.id, all[2]!.id]);
    expect(await stored()).toBe(3);
  });

  test("all are told of an unavailable database, which was asked once", async () => {
    let attempts = 0;
    const down = jobStore({
      ...database,
      begin() {
        attempts += 1;
        return Promise.reject(new DependencyError("the database is unavailable"));
      },
    });
    const results = await Promise.allSettled([down.submit(aJob()), down.submit(aJob())]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(attempts).toBe(1);
  });

  test("polls at once are answered to each organization apart, and one that is refused harms no other", async () => {
    const [own, other] = [aJob(), aJob({ organizationId: "org_b", keyId: "key_b" })];
    for (const job of [own, other]) await jobs.submit(job);
    const polls: [string, string][] = [
      ["org_b", other.id],
      ["org_a", own.id],
      ["org_a", other.id],
      ["org_a", "job_unknown"],
      ["org_a", own.id],
    ];
    const refused = Promise.allSettled([jobs.get("org_a", "job_\0")]);
    const found = await Promise.all(polls.map(([organization, id]) => jobs.get(organization, id)));
    expect(found.map((job) => job?.id)).toEqual([other.id, own.id, undefined, undefined, own.id]);
    const [result] = await refused;
    expect(result).not.toMatchObject({ value: expect.anything() });
  });

  test("a poll never gets a state from before it was made", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const { promise: read, resolve: hasRead } = Promise.withResolvers<void>();
    const slow = jobStore({
      ...database,
      async read(query) {
        const rows = await database.read(query);
        hasRead();
        await held;
        return rows;
      },
    });
    const job = aJob();
    await slow.submit(job);
    const before = slow.get("org_a", job.id);
    await read;
    await slow.cancel("org_a", job.id);
    const after = slow.get("org_a", job.id);
    await setImmediate();
    release();
    expect((await before)?.status).toBe("pending");
    expect((await after)?.status).toBe("cancelled");
  });

  if (databases.kind === "sqlite") return;

  /** Runs `work` until it waits for the first budget. Proves that `work` has not locked the second budget yet. */
  const withoutTheSecond = async (work: () => Promise<unknown>): Promise<void> => {
    let ended: Promise<unknown> = Promise.resolve();
    await database.begin(async (sql) => {
      await sql`SELECT id FROM budgets WHERE id = 'budget_1' FOR UPDATE`;
      let hasEnded = false;
      ended = work().then(
        () => (hasEnded = true),
        () => (hasEnded = true),
      );
      const waiting = () =>
        database.read(
          (other) => other<object[]>`SELECT pid FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
      await until("a wait for the lock", async () => hasEnded || (await waiting()).length > 0 || undefined);
      // NOWAIT fails at once if `work` has locked this budget. Without NOWAIT, both transactions would wait for each
      // other.
      await sql`SELECT id FROM budgets WHERE id = 'budget_2' FOR UPDATE NOWAIT`;
    });
    await ended;
  };

  test("budgets of all that are submitted or end together are locked in one order", async () => {
    for (const id of ["budget_1", "budget_2"]) await stores.admin.budgets.create(aBudget(id, 1_000n), BY);
    const jobOf = (budget: string, change: Partial<NewJob> = {}) =>
      aJob({ terms: { ...aJob().terms, budgets: [budget] }, ...change });
    await withoutTheSecond(() =>
      Promise.all([jobs.submit(jobOf("budget_2")), jobs.submit(jobOf("budget_1"))]),
    );
    await jobs.submit(jobOf("budget_2", { deadlineMs: -2 }));
    await jobs.submit(jobOf("budget_1", { deadlineMs: -1, organizationId: "org_b", keyId: "key_b" }));
    await withoutTheSecond(() => jobs.endOverdue(10));
  });
});
