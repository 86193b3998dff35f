import type { Fault } from "../fault.ts";

const SUBMIT = "src/storage/jobs/submit.ts";
const GROUP = "src/storage/jobs/group-commit.ts";
const FIND = "src/storage/jobs/index.ts";
const OWNERS = "src/storage/jobs/job-owners.ts";

const CLAIM = "src/storage/jobs/claim.ts";
const RUN = "src/jobs/run-job.ts";
const CONTROL = "src/jobs/run-control.ts";

const runs = ["src/jobs/run-job.test.ts", "src/jobs/run-control.test.ts"];
const crashes = ["test/e2e/jobs-crash.test.ts"];
const batches = ["test/contracts/jobs-batches.test.ts"];
const jobs = ["test/contracts/storage-jobs.test.ts"];

const DECISIONS = "knownAs(known, job) ?? fullFor(queued, job) ?? (await exhaustedBy(kind, sql, job))";
const PERSISTED = `if (results.some((result) => "job" in result)) await persist();`;

/** Faults in jobs: their queue, their leases and their ends. */
export const JOB_FAULTS: readonly Fault[] = [
  {
    name: "the money of a waiting job is held no longer than a lease",
    file: SUBMIT,
    find: "  await sql`UPDATE leases SET expires_at = ${NEVER} WHERE lease = ${id}`;\n",
    replace: "",
    tests: jobs,
  },
  {
    name: "a worker that has lost a job gives back the lease of another one",
    file: CLAIM,
    find: "WHERE id = ${jobId} AND fence = ${fence} AND lease_until",
    replace: "WHERE id = ${jobId} AND fence >= ${0 * fence} AND lease_until",
    tests: jobs,
  },
  {
    name: "a job that a worker has is ended with the waiting ones",
    file: "src/storage/jobs/retention.ts",
    find: "status = 'pending' AND lease_until IS NULL AND deadline_at",
    replace: "status = 'pending' AND deadline_at",
    tests: jobs,
  },
  {
    name: "jobs of a disabled organization run",
    file: RUN,
    find: "!job.isKeyUsable || context.principal.organization.isDisabled",
    replace: "!job.isKeyUsable",
    tests: runs,
  },
  {
    name: "jobs of a disabled key run",
    file: RUN,
    find: "!job.isKeyUsable || context.principal.organization.isDisabled",
    replace: "context.principal.organization.isDisabled",
    tests: runs,
  },
  {
    name: "a job of an expired key says that its key is usable",
    file: CLAIM,
    find: '\n      AND (expires_at IS NULL OR expires_at > ${row["now"]})',
    replace: "",
    tests: jobs,
  },
  {
    name: "a job goes on after its lease was lost",
    file: "src/jobs/worker.ts",
    find: `if (!lease) control.stop("lost");`,
    replace: "if (!lease) void control;",
    tests: crashes,
  },
  {
    name: "a cancelled job is run again after a crash",
    file: RUN,
    find: "    if (control.isCancelled && !job.sent) return cancelled();\n",
    replace: "",
    tests: runs,
  },
  {
    name: "a cancelled job is finished at its vendor after a crash",
    file: RUN,
    find: "      control.beforePoll();\n",
    replace: "",
    tests: crashes,
  },
  {
    name: "a job is cancelled before its vendor's own job can be",
    file: CONTROL,
    find: `if (!this.#isUnpolled) this.stop("cancelled");`,
    replace: `this.stop("cancelled");`,
    tests: runs,
  },
  {
    name: "a job is told of before the disk has it",
    file: GROUP,
    find: PERSISTED,
    replace: "void persist;",
    tests: batches,
  },
  {
    name: "a known job is told of before the disk has it",
    file: GROUP,
    find: PERSISTED,
    replace: `if (results.some(({ kind }) => kind === "accepted")) await persist();`,
    tests: batches,
  },
  {
    name: "a job joins a wait for the disk that has begun before it",
    file: GROUP,
    find: "    if (!running) return start();\n",
    replace: "    if (!running) return start();\n    if (running) return running;\n",
    tests: batches,
  },
  {
    name: "organizations share a submission",
    file: GROUP,
    find: "laneOf: ({ organizationId }) => organizationId,",
    replace: `laneOf: () => "",`,
    tests: batches,
  },
  {
    name: "a known job is not found while its queue is full",
    file: SUBMIT,
    find: DECISIONS,
    replace: "fullFor(queued, job) ?? knownAs(known, job) ?? (await exhaustedBy(kind, sql, job))",
    tests: batches,
  },
  {
    name: "a job that finds its queue full holds money",
    file: SUBMIT,
    find: DECISIONS,
    replace: "knownAs(known, job) ?? (await exhaustedBy(kind, sql, job)) ?? fullFor(queued, job)",
    tests: batches,
  },
  {
    name: "a known job holds money again",
    file: SUBMIT,
    find: DECISIONS,
    replace: "(await exhaustedBy(kind, sql, job)) ?? knownAs(known, job) ?? fullFor(queued, job)",
    tests: batches,
  },
  {
    name: "the money of a job is in doubt before the job has ended",
    file: SUBMIT,
    find: "  await sql`UPDATE leases SET expires_at = ${NEVER} WHERE lease = ${id}`;\n",
    replace: "  void NEVER;\n",
    tests: batches,
  },
  {
    name: "budgets are locked job by job",
    file: SUBMIT,
    find: "    jobs.flatMap(({ terms }) => terms.budgets),",
    replace: "    jobs.slice(0, 0).flatMap(({ terms }) => terms.budgets),",
    tests: batches,
  },
  {
    name: "overdue jobs lock budgets one after the other",
    file: "src/storage/jobs/retention.ts",
    find: "if (rows.length > 0) await lockAll(kind, sql, rows);",
    replace:
      "for (const { organizationId } of rows) await lockOrganization(kind, sql, organizationId);\n  void lockAll;",
    tests: batches,
  },
  {
    name: "a job of a submission does not count for the next ones",
    file: SUBMIT,
    find: "    queued.add(job);\n",
    replace: "",
    tests: batches,
  },
  {
    name: "the running limit of a key stays that of its first job",
    file: OWNERS,
    find: "DO UPDATE SET running_limit = excluded.running_limit",
    replace: "DO UPDATE SET running_limit = job_owners.running_limit",
    tests: jobs,
  },
  {
    name: "a poll gets the row of another",
    file: FIND,
    find: "return ids.map((id) => byId.get(id));",
    replace: "return ids.map((id, index) => rows[index] ?? byId.get(id));",
    tests: batches,
  },
  {
    name: "a poll sees the jobs of every organization",
    file: FIND,
    find: "job?.organizationId === organizationId ?",
    replace: "job && organizationId ?",
    tests: batches,
  },
  {
    name: "the cost of an abandoned job does not count to the cap of its key",
    file: "src/jobs/worker.ts",
    find: "core.orphanCosts.add(job.keyId, ending.entry.orphanCost);",
    replace: "core.orphanCosts.add(job.keyId, 0n);",
    tests: ["test/e2e/jobs-limits.test.ts"],
  },
  {
    name: "the cost of a lost job is not noted when its key has reached the cap",
    file: "src/jobs/run-job.ts",
    find: "  const core = runningCoreOf(plain, billing);",
    replace: "  const core = coreOf(plain, billing);",
    tests: ["src/jobs/run-job.test.ts"],
  },
  {
    name: "the files of a submission that failed stay",
    file: "src/jobs/submit.ts",
    find: "    void removeUnlessSubmitted(core, job);",
    replace: "",
    tests: ["test/e2e/jobs-outage.test.ts"],
  },
  {
    name: "a repeated submission is refused for what the first has used up",
    file: "src/jobs/submit.ts",
    find: "  if (submitted) return { job: accepted(submitted), ignored: [] };",
    replace: "",
    tests: ["test/spec/jobs.test.ts"],
  },
  {
    name: "a repeated submission finds the job of another key",
    file: "src/storage/jobs/submit.ts",
    find: "WHERE key_id = ${keyId} AND idempotency_key = ${idempotency.key}",
    replace: "WHERE idempotency_key = ${idempotency.key}",
    tests: ["test/contracts/storage-jobs.test.ts"],
  },
  {
    name: "fields of image requests go to a vendor of the native protocol",
    file: "src/server/endpoints/jobs.ts",
    find: "filter(([name]) => !isImageField(name))",
    replace: "filter(([name]) => !isKnownField(name))",
    tests: ["test/spec/jobs.test.ts"],
  },
  {
    name: "half of a list of jobs to cancel is dropped",
    file: "src/server/endpoints/job-query.ts",
    find: `readUnambiguous(body).body["job_ids"]`,
    replace: `readUnambiguous(Buffer.from(JSON.stringify(JSON.parse(Buffer.from(body).toString())))).body["job_ids"]`,
    tests: ["test/spec/jobs.test.ts"],
  },
  {
    name: "a job that has ended is marked as to be cancelled",
    file: "src/storage/jobs/finish.ts",
    find: "WHERE id = ${id} AND status = 'in_progress' RETURNING",
    replace: "WHERE id = ${id} RETURNING",
    tests: jobs,
  },
  {
    name: "a worker that has lost a job ends it",
    file: "src/storage/jobs/job-row.ts",
    find: "id = ${jobId} AND fence = ${fence} AND",
    replace: "id = ${jobId} AND fence >= ${fence - fence} AND",
    tests: jobs,
  },
  {
    name: "a cancellation ends a job that was sent meanwhile",
    file: "src/storage/jobs/finish.ts",
    find: "WHERE id = ${id} AND status = 'pending' RETURNING",
    replace: "WHERE id = ${id} AND status IN ('pending', 'in_progress') RETURNING",
    tests: jobs,
  },
  {
    name: "the money of an ended job stays held",
    file: "src/storage/jobs/finish.ts",
    find: "  await releaseLease(kind, sql, id);\n",
    replace: "",
    tests: jobs,
  },
  {
    name: "a worker that stops ends the leases of all",
    file: "src/storage/jobs/index.ts",
    find: "SET lease_until = 0 WHERE worker = ${worker} AND",
    replace: "SET lease_until = 0 WHERE worker <> ${worker.slice(worker.length)} AND",
    tests: jobs,
  },
  {
    name: "a job that a vendor has is dropped when its key is disabled",
    file: RUN,
    find: "if (isDisabled && !job.sent) throw disabled();",
    replace: "if (isDisabled) throw disabled();",
    tests: ["src/jobs/run-job.test.ts"],
  },
  {
    name: "the vendor's own jobs of a job that goes on are forgotten",
    file: RUN,
    find: "      if (sent) return;\n",
    replace: "",
    tests: ["src/jobs/run-job.test.ts"],
  },
  {
    name: "a call of a job takes the vendor's job of another call",
    file: RUN,
    find: "id: sent?.vendorJobs[call] ?? null",
    replace: "id: Object.values(sent?.vendorJobs ?? {})[0] ?? null",
    tests: ["src/jobs/run-job.test.ts"],
  },
  {
    name: "a call that may have been made before a crash is made again",
    file: RUN,
    find: "isLost: sent !== null && sent.vendorJobs[call] === undefined",
    replace: "isLost: sent === null && job.sent !== null",
    tests: ["src/jobs/run-job.test.ts"],
  },
  {
    name: "a worker runs one job too many",
    file: "src/jobs/worker.ts",
    find: "this.#running.size < this.#options.concurrency",
    replace: "this.#running.size <= this.#options.concurrency",
    tests: ["src/jobs/worker.test.ts"],
  },
  {
    name: "a worker that has lost a job removes its files",
    file: "src/jobs/worker.ts",
    find: "if (!(await retryWhileUnavailable(finish, () => control.isHandedOver))) return;",
    replace: "await retryWhileUnavailable(finish, () => control.isHandedOver);",
    tests: ["src/jobs/worker.test.ts"],
  },
  {
    name: "a job that ran out of time is handed over instead of ended",
    file: CONTROL,
    find: "    if (this.#reason !== null) return;\n",
    replace: "",
    tests: ["src/jobs/run-control.test.ts"],
  },
  {
    name: "a message that was delivered is sent again",
    file: "src/storage/jobs/webhooks.ts",
    find: "result_code = ${result.code}, result_figures = ${toColumn(result.figures)}\n            WHERE id = ${id} AND status = 'waiting'`",
    replace:
      "result_code = ${result.code}, result_figures = ${toColumn(result.figures)}, status = 'waiting'\n            WHERE id = ${id}`",
    tests: ["test/contracts/webhooks.test.ts"],
  },
  {
    name: "a redirect is taken for a delivery",
    file: "src/jobs/webhooks.ts",
    find: "status >= 200 && status < 300",
    replace: "status >= 200 && status < 400",
    tests: ["test/contracts/webhooks.test.ts"],
  },
];
