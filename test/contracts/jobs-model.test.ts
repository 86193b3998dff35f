import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { hasEnded, type JobStatus } from "../../src/domain/job.ts";
import type { ClaimedJob, JobEnding, JobStore } from "../../src/jobs/ports.ts";
import { openDatabase, openStores, type Database, type Stores } from "../../src/storage/index.ts";
import { aJob, CANCELLATION, completion, FAILURE } from "../support/jobs.ts";
import { aBudget, aKey, anOrganization, BY, temporaryFolder } from "./storage-harness.ts";

/*
 * Runs random operations of callers, workers and sweeps concurrently on the real store. A lease can be lost at any
 * time. After each group of operations, states, counts and money must agree.
 */
const KEYS = ["key_a", "key_b"];
const BUDGET = "budget_model";
const CEILING = 40n;
const folder = temporaryFolder();

type Step =
  | { do: "submit"; key: number; isLate: boolean }
  | { do: "claim" }
  | { do: "loseLeases" | "endOverdue" | "expire" }
  | {
      do: "send" | "remember" | "store" | "renew" | "complete" | "fail" | "cancelled" | "release";
      lease: number;
    }
  | { do: "cancel"; job: number };

const index = fc.nat(11);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("submit" as const), key: fc.nat(1), isLate: fc.boolean() }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("claim" as const) }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constantFrom("send", "remember", "store", "renew", "complete", "fail", "cancelled", "release"),
      lease: index,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("cancel" as const), job: index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("loseLeases", "endOverdue", "expire") }) },
);

/** A run on the store, and the model's record of each job. */
class Run {
  /** The last seen state of each job, in order of submission. */
  readonly statuses = new Map<string, JobStatus>();
  /** All leases that were granted, including lost ones. */
  readonly leases: ClaimedJob[] = [];

  constructor(
    readonly stores: Stores,
    readonly jobs: JobStore,
    readonly database: Database,
  ) {}

  async take(step: Step): Promise<void> {
    const { jobs } = this;
    if (step.do === "submit") return this.#submit(step.key, step.isLate);
    if (step.do === "claim") {
      const claimed = await jobs.claim("worker", () => 3);
      if (claimed) this.leases.push(claimed);
    } else if (step.do === "loseLeases") {
      await this.database.begin((sql) => sql`UPDATE jobs SET lease_until = 1 WHERE lease_until IS NOT NULL`);
    } else if (step.do === "endOverdue") await jobs.endOverdue(2);
    else if (step.do === "expire") await jobs.expire(-60_000, 2);
    else if (step.do === "cancel") {
      const id = [...this.statuses.keys()].at(-1 - step.job);
      if (id) await jobs.cancel("org_a", id);
    } else if ("lease" in step) await this.#write(step.do, this.leases.at(-1 - step.lease));
  }

  async #submit(key: number, isLate: boolean): Promise<void> {
    const terms = { ...aJob().terms, ceiling: CEILING, budgets: [BUDGET] };
    const job = aJob({ keyId: KEYS[key]!, terms, deadlineMs: isLate ? -1 : 60_000 });
    const result = await this.jobs.submit(job);
    if (result.kind === "accepted") this.statuses.set(job.id, "pending");
  }

  async #write(kind: string, lease: ClaimedJob | undefined): Promise<void> {
    if (!lease) return;
    const { jobs } = this;
    const target = { channel: "c", upstreamModel: "m" };
    const endings: Record<string, JobEnding> = {
      complete: completion(lease, [BUDGET]),
      fail: FAILURE,
      cancelled: CANCELLATION,
    };
    if (kind === "send") await jobs.send(lease, target);
    else if (kind === "remember") await jobs.rememberVendorJobs(lease, { ...target, vendorJobs: { 0: "v" } });
    else if (kind === "store") await jobs.store(lease);
    else if (kind === "renew") await jobs.renew([lease]);
    else if (kind === "release") await jobs.release([lease]);
    else {
      const isHeld = await jobs.finish(lease, endings[kind]!);
      if (isHeld) expect(hasEnded({ status: this.statuses.get(lease.jobId)! })).toBe(false);
    }
  }

  async check(): Promise<void> {
    const rows = await this.database.read(
      (sql) => sql<{ id: string; status: JobStatus; lease_until: bigint | null; key_id: string }[]>`
        SELECT id, status, lease_until, key_id FROM jobs`,
    );
    expect(rows).toHaveLength(this.statuses.size);
    for (const { id, status } of rows) {
      expect([id, this.statuses.get(id), status, isLegal(this.statuses.get(id)!, status)]).toEqual([
        id,
        this.statuses.get(id)!,
        status,
        true,
      ]);
      this.statuses.set(id, status);
    }
    const live = rows.filter(({ status }) => !hasEnded({ status }));
    await this.#checkCounts(live);
    await this.#checkMoney(rows, live.length);
  }

  async #checkCounts(live: readonly { lease_until: bigint | null; key_id: string }[]): Promise<void> {
    const owners = await this.database.read(
      (sql) =>
        sql<{ id: string; queued: bigint; running: bigint }[]>`SELECT id, queued, running FROM job_owners`,
    );
    for (const { id, queued, running } of owners) {
      const own = live.filter(({ key_id }) => id === "org_a" || key_id === id);
      const isRunning = (job: { lease_until: bigint | null }) => job.lease_until !== null;
      expect([id, Number(queued), Number(running)]).toEqual([
        id,
        own.filter((job) => !isRunning(job)).length,
        own.filter(isRunning).length,
      ]);
      expect(Number(running)).toBeLessThanOrEqual(3);
    }
  }

  async #checkMoney(rows: readonly { id: string; status: JobStatus }[], live: number): Promise<void> {
    const [budget] = await this.database.read(
      (sql) => sql<{ spent: bigint; held: bigint }[]>`SELECT spent, held FROM budgets`,
    );
    const ledger = await this.database.read(
      (sql) => sql<{ id: string; amount: bigint }[]>`SELECT id, amount FROM ledger`,
    );
    const delivered = rows.filter(({ status }) => status === "completed" || status === "expired");
    expect(ledger.map(({ id }) => id).toSorted()).toEqual(delivered.map(({ id }) => id).toSorted());
    expect(budget).toEqual({ spent: 10n * BigInt(delivered.length), held: CEILING * BigInt(live) });
  }
}

/** True when a job's state may change from `before` to `after` between two reads. */
function isLegal(before: JobStatus, after: JobStatus): boolean {
  if (before === after) return true;
  if (before === "completed") return after === "expired";
  if (hasEnded({ status: before })) return false;
  return after !== "pending";
}

test("states, counts and money agree whatever happens at once", async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 5, maxLength: 30 }),
      async (groups) => {
        count += 1;
        const location = join(folder, `model-${count}.sqlite`);
        const stores = await openStores(location);
        // A second connection, as another process would have.
        const other = await openDatabase(location);
        try {
          await stores.admin.organizations.create(anOrganization("org_a"), BY);
          for (const key of KEYS) await stores.admin.keys.create(aKey(key, "org_a"), BY);
          await stores.admin.budgets.create(aBudget(BUDGET, 400n), BY);
          const run = new Run(stores, stores.jobs, other);
          for (const group of groups) {
            await Promise.all(group.map((each) => run.take(each)));
            await run.check();
          }
        } finally {
          await Promise.all([other.close(), stores.database.close()]);
        }
      },
    ),
    { numRuns: 40 },
  );
}, 60_000);
