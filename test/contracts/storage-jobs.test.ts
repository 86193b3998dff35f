import { beforeEach, expect, test } from "bun:test";
import { migrate } from "../../src/storage/database/migrate.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import type { ClaimedJob, JobStore, NewJob } from "../../src/jobs/ports.ts";
import { newId } from "../../src/lib/ids.ts";
import { until } from "../support/gateway.ts";
import { aJob, CANCELLATION, completion, FAILURE } from "../support/jobs.ts";
import { aBudget, aKey, anOrganization, BY, onEachDatabase } from "./storage-harness.ts";

/* The job queue on both databases: leases, turns, limits, money and retention. */
onEachDatabase("jobs", (databases) => {
  let database: Database;
  let stores: Stores;
  let jobs: JobStore;

  beforeEach(async () => {
    database = await databases.open(await databases.location());
    await migrate(database);
    stores = storesOn(database);
    jobs = stores.jobs;
    await stores.admin.organizations.create(anOrganization("org_a"), BY);
    await stores.admin.organizations.create(anOrganization("org_b"), BY);
    for (const [key, organization] of [
      ["key_a", "org_a"],
      ["key_a2", "org_a"],
      ["key_b", "org_b"],
    ] as const)
      await stores.admin.keys.create(aKey(key, organization), BY);
  });

  const submit = async (change: Partial<NewJob> = {}): Promise<string> => {
    const result = await jobs.submit(aJob(change));
    if (result.kind !== "accepted") throw new Error(result.kind);
    return result.job.id;
  };
  const claim = (worker = "w1", limit: number | null = null) => jobs.claim(worker, () => limit);
  const claimed = async (worker = "w1"): Promise<ClaimedJob> => {
    const job = await claim(worker);
    if (!job) throw new Error("nothing to claim");
    return job;
  };
  const statusOf = async (id: string, organization = "org_a") =>
    (await jobs.get(organization, id))?.status ?? null;
  const expireLeases = () =>
    database.begin((sql) => sql`UPDATE jobs SET lease_until = 1 WHERE lease_until IS NOT NULL`);
  const target = { channel: "c", upstreamModel: "m" };
  const budgetRow = async () => {
    const [row] = await database.read(
      (sql) => sql<{ spent: bigint; held: bigint }[]>`SELECT spent, held FROM budgets`,
    );
    return { spent: BigInt(row!.spent), held: BigInt(row!.held) };
  };
  const withBudget = async (amount: bigint) => {
    const budget = aBudget("budget_1", amount);
    await stores.admin.budgets.create(budget, BY);
    return { ...aJob().terms, budgets: [budget.id] };
  };
  const owners = () =>
    database.read(
      (sql) =>
        sql<{ id: string; queued: bigint; running: bigint }[]>`SELECT id, queued, running FROM job_owners`,
    );

  test("a submitted job is queued, seen by its organization only, and claimed once", async () => {
    const id = await submit();
    expect(await jobs.get("org_a", id)).toMatchObject({
      id,
      status: "pending",
      stage: 5,
      outputs: [],
      error: null,
    });
    expect(await jobs.get("org_b", id)).toBeNull();
    expect(await jobs.get("org_a", "job_unknown")).toBeNull();
    expect(await jobs.hasWork()).toBe(true);
    const claims = await Promise.all(Array.from({ length: 8 }, (_, index) => claim(`w${index}`)));
    expect(claims.filter((job) => job !== null)).toHaveLength(1);
    expect(claims.find((job) => job !== null)).toMatchObject({
      jobId: id,
      fence: 1,
      status: "pending",
      isKeyUsable: true,
      sent: null,
      request: '{"kind":"image"}',
      terms: aJob().terms,
    });
    expect(await jobs.hasWork()).toBe(false);
    expect((await jobs.get("org_a", id))?.stage).toBe(10);
  });

  test("a job runs through its states, and its stage never goes back", async () => {
    const id = await submit();
    const job = await claimed();
    expect(await jobs.send(job, target)).toBe(true);
    expect(await jobs.get("org_a", id)).toMatchObject({ status: "in_progress", stage: 20 });
    expect(await jobs.store(job)).toBe(true);
    await database.begin((sql) => sql`UPDATE jobs SET started_at = 7`);
    expect(await jobs.send(job, target)).toBe(true);
    expect(await jobs.get("org_a", id)).toMatchObject({ status: "in_progress", stage: 95, startedAt: 7 });
    expect(await jobs.finish(job, completion(job))).toBe(true);
    expect(await jobs.get("org_a", id)).toMatchObject({
      status: "completed",
      stage: 100,
      outputs: [{ format: "png" }],
    });
    expect(await stores.ledger.find(id, "charge")).toMatchObject({ amount: 10n });
    expect(await jobs.finish(job, FAILURE)).toBe(false);
    // The request of an ended job is deleted.
    expect(await database.read((sql) => sql<object[]>`SELECT job_id FROM job_requests`)).toEqual([]);
    expect((await jobs.cancel("org_a", id))?.job).toMatchObject({
      status: "completed",
      isCancelRequested: false,
    });
  });

  test("a lease that was lost changes nothing any more", async () => {
    const id = await submit();
    const first = await claimed("w1");
    await jobs.send(first, target);
    await expireLeases();
    const second = await claimed("w2");
    expect(second).toMatchObject({ jobId: id, fence: 2, status: "in_progress", pickUpMs: null });
    expect((await jobs.renew([first])).size).toBe(0);
    expect([...(await jobs.renew([second])).keys()]).toEqual([id]);
    expect(await jobs.send(first, target)).toBe(false);
    expect(await jobs.store(first)).toBe(false);
    expect(await jobs.rememberVendorJobs(first, { ...target, vendorJobs: { 0: "x" } })).toBe(false);
    expect(await jobs.finish(first, completion(first))).toBe(false);
    expect(await jobs.finish(second, FAILURE)).toBe(true);
    expect(await jobs.get("org_a", id)).toMatchObject({ status: "failed", error: FAILURE.error });
    expect(await stores.ledger.find(id, "charge")).toBeNull();
  });

  test("the vendor's own job is handed to the next worker", async () => {
    await submit();
    const first = await claimed("w1");
    await jobs.send(first, target);
    const sent = { ...target, vendorJobs: { 0: "vendor-1", 2: "vendor-3" } };
    expect(await jobs.rememberVendorJobs(first, sent)).toBe(true);
    await submit();
    await claimed("w3");
    await jobs.releaseAll("w1");
    expect((await claimed("w2")).sent).toEqual(sent);
    expect(await claim("w2")).toBeNull();
  });

  test("a pending job is cancelled at once, claimed or not; a running one is told", async () => {
    const [one, two] = [await submit(), await submit()];
    expect(await jobs.cancel("org_b", one)).toBeNull();
    expect((await jobs.cancel("org_a", one))?.job.status).toBe("cancelled");
    expect((await jobs.cancel("org_a", one))?.job.status).toBe("cancelled");
    const job = await claimed();
    expect(job.jobId).toBe(two);
    expect((await jobs.cancel("org_a", two))?.job.status).toBe("cancelled");
    expect(await jobs.send(job, target)).toBe(false);
    await submit();
    const running = await claimed();
    await jobs.send(running, target);
    expect(await jobs.cancelling("w1")).toEqual([]);
    expect(await jobs.cancel("org_a", running.jobId)).toMatchObject({
      job: { status: "in_progress", isCancelRequested: true },
    });
    expect(await jobs.cancelling("w1")).toEqual([running.jobId]);
    expect(await jobs.cancelling("w2")).toEqual([]);
    expect((await jobs.renew([running])).get(running.jobId)).toEqual({ isCancelRequested: true });
    expect(await jobs.finish(running, CANCELLATION)).toBe(true);
    expect(
      (await owners()).every(({ queued, running }) => Number(queued) === 0 && Number(running) === 0),
    ).toBe(true);
  });

  test("money is held from submission to end, and charged with the end", async () => {
    const terms = await withBudget(100n);
    await submit({ terms });
    const second = await submit({ terms });
    expect(await budgetRow()).toEqual({ spent: 0n, held: 80n });
    expect(await jobs.submit(aJob({ terms }))).toEqual({ kind: "exhausted", reason: "held" });
    const job = await claimed();
    await jobs.send(job, target);
    await expireLeases();
    const again = await claimed("w2");
    expect(await budgetRow()).toEqual({ spent: 0n, held: 80n });
    await jobs.finish(again, completion(again, terms.budgets));
    expect(await budgetRow()).toEqual({ spent: 10n, held: 40n });
    await jobs.cancel("org_a", second);
    expect(await budgetRow()).toEqual({ spent: 10n, held: 0n });
    expect(await stores.leases.processesInDoubt()).toEqual([]);
    const { differenceCount } = await stores.admin.ledger.verify();
    expect(differenceCount).toBe(0);
    const spent = { ...terms, ceiling: 91n };
    expect(await jobs.submit(aJob({ terms: spent }))).toEqual({ kind: "exhausted", reason: "spent" });
  });

  test("no number of submissions at once holds more than the budget has", async () => {
    const terms = await withBudget(200n);
    const results = await Promise.all(Array.from({ length: 12 }, () => jobs.submit(aJob({ terms }))));
    expect(results.filter(({ kind }) => kind === "accepted")).toHaveLength(5);
    expect(await budgetRow()).toEqual({ spent: 0n, held: 200n });
  });

  test("an idempotency key names one job, whatever is submitted at once", async () => {
    const idempotency = { key: "k", fingerprint: "f" };
    const results = await Promise.all(Array.from({ length: 10 }, () => jobs.submit(aJob({ idempotency }))));
    const ids = results.flatMap((result) => ("job" in result ? [result.job.id] : []));
    expect(ids).toHaveLength(10);
    expect(new Set(ids).size).toBe(1);
    expect(results.filter(({ kind }) => kind === "accepted")).toHaveLength(1);
    const { keyId } = aJob({ idempotency });
    expect(await jobs.findSubmitted(keyId, idempotency)).toMatchObject({
      kind: "known",
      job: { id: ids[0] },
    });
    expect(await jobs.findSubmitted(keyId, { key: "k", fingerprint: "g" })).toEqual({ kind: "other" });
    expect(await jobs.findSubmitted("key_a2", idempotency)).toBeNull();
    const other = aJob({ idempotency: { key: "k", fingerprint: "g" } });
    expect(await jobs.submit(other)).toEqual({ kind: "other" });
    expect((await jobs.submit({ ...other, id: newId("job"), keyId: "key_a2" })).kind).toBe("accepted");
    await database.begin((sql) => sql`UPDATE jobs SET created_at = created_at - 86400001`);
    expect(await jobs.findSubmitted(keyId, idempotency)).toBeNull();
    expect((await jobs.submit(other)).kind).toBe("accepted");
  });

  test("an organization or key that has enough jobs waiting is told so", async () => {
    const queuedLimit = { organization: 3, key: 2 };
    await submit({ queuedLimit });
    await submit({ queuedLimit });
    expect(await jobs.submit(aJob({ queuedLimit }))).toEqual({ kind: "full", scope: "key", limit: 2 });
    await submit({ queuedLimit, keyId: "key_a2" });
    const refused = await jobs.submit(aJob({ queuedLimit, keyId: "key_a2" }));
    expect(refused).toEqual({ kind: "full", scope: "organization", limit: 3 });
    await claimed();
    expect((await jobs.submit(aJob({ queuedLimit, keyId: "key_a2" }))).kind).toBe("accepted");
  });

  test("no more jobs run than the limits of organization and key allow", async () => {
    for (let index = 0; index < 4; index += 1) await submit();
    await submit({ keyId: "key_a2", keyRunningLimit: 1 });
    await submit({ keyId: "key_a2", keyRunningLimit: 1 });
    const claims = await Promise.all(Array.from({ length: 6 }, () => claim("w", 4)));
    const rest = await Promise.all(Array.from({ length: 6 }, () => claim("w", 4)));
    const all = [...claims, ...rest].filter((job) => job !== null);
    expect(all).toHaveLength(4);
    expect(all.filter(({ keyId }) => keyId === "key_a2")).toHaveLength(1);
    await jobs.finish(
      all.find(({ keyId }) => keyId === "key_a")!,
      FAILURE,
    );
    expect(await claim("w", 4)).toMatchObject({ keyId: "key_a" });
    expect(await claim("w", 5)).toBeNull();
  });

  test("the running limit of a key is the one of its last submission", async () => {
    for (const keyRunningLimit of [1, 1]) await submit({ keyRunningLimit });
    await claimed();
    expect(await claim()).toBeNull();
    await submit({ keyRunningLimit: 2 });
    await claimed();
    expect(await claim()).toBeNull();
  });

  test("organizations take turns, and then keys", async () => {
    for (let index = 0; index < 6; index += 1) await submit();
    await submit({ keyId: "key_a2" });
    await submit({ organizationId: "org_b", keyId: "key_b" });
    const order: string[] = [];
    for (let index = 0; index < 8; index += 1) order.push((await claimed()).keyId);
    expect(order.slice(0, 3).toSorted()).toEqual(["key_a", "key_a2", "key_b"]);
    expect(order.indexOf("key_b")).toBeLessThan(2);
    await submit();
    await submit();
    await submit({ keyId: "key_a2" });
    expect([(await claimed()).keyId, (await claimed()).keyId]).toContain("key_a2");
  });

  test("a thousand waiting jobs of one key delay neither another key nor another organization", async () => {
    for (let index = 0; index < 125; index += 1) await Promise.all(Array.from({ length: 8 }, () => submit()));
    await claimed();
    await claimed();
    const ofKey = await submit({ keyId: "key_a2" });
    const ofOrganization = await submit({ organizationId: "org_b", keyId: "key_b" });
    expect([(await claimed()).jobId, (await claimed()).jobId].toSorted()).toEqual(
      [ofKey, ofOrganization].toSorted(),
    );
  });

  test("an organization runs no more jobs than it may, whatever keys they are of", async () => {
    await submit();
    await submit({ keyId: "key_a2" });
    expect(await claim("w1", 1)).not.toBeNull();
    expect(await claim("w1", 1)).toBeNull();
    expect(await claim("w1", 2)).not.toBeNull();
  });

  test("a worker that has lost a job does not give back the lease of another one", async () => {
    await submit();
    const lost = await claimed("w1");
    await expireLeases();
    await claimed("w2");
    await jobs.release([lost]);
    expect(await claim("w3")).toBeNull();
  });

  test("the money of a waiting job stays held for as long as it waits", async () => {
    await submit({ terms: await withBudget(100n) });
    const [row] = await database.read(
      (sql) => sql<{ expires_at: bigint }[]>`SELECT expires_at FROM leases WHERE amount > 0`,
    );
    expect(Number(row!.expires_at) - Date.now()).toBeGreaterThan(365 * 24 * 60 * 60_000);
  });

  test("a job of a disabled, deleted or expired key says so", async () => {
    await submit();
    await submit({ keyId: "key_a2" });
    await submit({ organizationId: "org_b", keyId: "key_b" });
    await stores.admin.keys.create(aKey("key_b2", "org_b", { expiresAt: Date.now() + 60_000 }), BY);
    await submit({ organizationId: "org_b", keyId: "key_b2" });
    await stores.admin.keys.update("key_a", () => ({ isDisabled: true }), BY);
    await stores.admin.keys.remove("key_a2", BY);
    await stores.admin.keys.update("key_b", () => ({ expiresAt: Date.now() - 1 }), BY);
    const usable = new Map<string, boolean>();
    for (let count = 0; count < 4; count += 1) {
      const { keyId, isKeyUsable } = await claimed();
      usable.set(keyId, isKeyUsable);
    }
    expect(Object.fromEntries(usable)).toEqual({ key_a: false, key_a2: false, key_b: false, key_b2: true });
  });

  test("a claimed job is ended at its deadline by its worker alone", async () => {
    await submit({ deadlineMs: -1 });
    await claimed();
    expect(await jobs.endOverdue(10)).toEqual({ count: 0, files: [] });
  });

  test("queued jobs end at their deadline", async () => {
    const terms = await withBudget(100n);
    const late = await submit({ deadlineMs: -1, terms, files: ["a.bin"] });
    const early = await submit({ terms });
    expect(await jobs.endOverdue(10)).toEqual({ count: 1, files: ["a.bin"] });
    expect(await jobs.endOverdue(10)).toEqual({ count: 0, files: [] });
    expect(await jobs.get("org_a", late)).toMatchObject({ status: "failed", error: { type: "timeout" } });
    expect(await statusOf(early)).toBe("pending");
    expect(await budgetRow()).toEqual({ spent: 0n, held: 40n });
  });

  test("completed jobs expire, and later every ended job is gone", async () => {
    const done = await submit();
    const job = await claimed();
    await jobs.finish(job, completion(job));
    const failed = await submit();
    await jobs.finish(await claimed(), FAILURE);
    const live = await submit();
    expect(await jobs.expire(1_000_000, 10)).toEqual({ count: 0, names: [] });
    const { count, names } = await jobs.expire(-1_000, 10);
    expect([count, names]).toEqual([1, [completion(job).outputs[0]!.name]]);
    expect(await jobs.get("org_a", done)).toMatchObject({ status: "expired", outputs: [], stage: 100 });
    expect(await statusOf(failed)).toBe("failed");
    expect(await jobs.remove(1_000_000, 10)).toBe(0);
    expect(await jobs.remove(-1_000, 1)).toBe(1);
    expect(await jobs.remove(-1_000, 10)).toBe(1);
    expect(await Promise.all([done, failed, live].map((id) => statusOf(id)))).toEqual([
      null,
      null,
      "pending",
    ]);
  });

  test("lists are newest first, in pages, by status and time", async () => {
    const ids = [await submit(), await submit(), await submit()].toReversed();
    await submit({ organizationId: "org_b", keyId: "key_b" });
    await jobs.cancel("org_a", ids[0]!);
    const page = { limit: 10, offset: 0, statuses: [], createdFrom: null, createdTo: null };
    const list = async (change: object) =>
      (await jobs.list("org_a", { ...page, ...change })).map(({ id }) => id);
    expect(await list({})).toEqual(ids);
    expect(await list({ limit: 1, offset: 1 })).toEqual(ids.slice(1, 2));
    expect(await list({ statuses: ["cancelled"] })).toEqual(ids.slice(0, 1));
    expect(await list({ statuses: ["pending", "cancelled"] })).toEqual(ids);
    const { createdAt } = (await jobs.get("org_a", ids[1]!))!;
    expect(await list({ createdTo: createdAt })).not.toContain(ids[1]!);
    expect(await list({ createdFrom: createdAt })).toContain(ids[1]!);
  });

  test("the queues tell how many wait and run, and how long", async () => {
    await submit();
    await submit();
    await claimed();
    expect(await jobs.queues()).toEqual([
      { organizationId: "org_a", queued: 1, running: 1, oldestMs: expect.any(Number) },
    ]);
  });

  if (databases.kind === "postgres")
    test("a job that is sent while its cancellation waits for a lock is not ended by it", async () => {
      const id = await submit();
      const job = await claimed();
      const [locked, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const locking = database.begin(async (sql) => {
        await sql`SELECT id FROM job_owners WHERE id = 'org_a' FOR UPDATE`;
        locked.resolve();
        await free.promise;
      });
      await locked.promise;
      const cancelling = jobs.cancel("org_a", id);
      await until("the cancellation to wait", async () => {
        const waiting = await database.read(
          (sql) => sql<object[]>`SELECT pid FROM pg_locks WHERE NOT granted`,
        );
        return waiting.length > 0 || undefined;
      });
      expect(await jobs.send(job, target)).toBe(true);
      free.resolve();
      await locking;
      expect((await cancelling)?.job).toMatchObject({ status: "in_progress", isCancelRequested: true });
    });

  if (databases.kind === "postgres")
    test("other processes are woken by a submission", async () => {
      const woken = Promise.withResolvers<void>();
      const listening = await jobs.wakes(() => woken.resolve());
      await submit();
      await woken.promise;
      await listening!.stop();
    });
});
