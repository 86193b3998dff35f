import type { ImagePrice } from "../domain/price.ts";
import type { Job, JobError, JobOutput, JobStatus } from "../domain/job.ts";
import type { LedgerEntry } from "../domain/ledger.ts";
import type { BudgetRefusal } from "../gateway/metering/exhaustion-cache.ts";
import type { Nanos } from "../lib/money.ts";

/*
 * States of a job. Every arrow is one transaction of the store, named after its method in `JobStore`.
 *
 *          submit
 *             |
 *             v        cancel; endOverdue while unclaimed; finish before a vendor is called
 *          pending ------------------------------------------------------> cancelled or failed
 *             | send
 *             v                            finish
 *        in_progress ----------------------------------------------------> cancelled or failed
 *             | store
 *             v                            finish
 *   in_progress, storing ------------------------------------------------> cancelled or failed
 *             | finish
 *             v
 *         completed
 *             | expire
 *             v
 *          expired
 *
 * `storing` is a stage of the status `in_progress`. `cancel` only records a request when the job is in progress; the
 * worker of the job then ends the job. `remove` deletes ended jobs.
 *
 * States of a job's lease, which is the right of one worker to run the job. `claim` raises the fence, the number of the
 * claim. A write with an older fence changes nothing.
 *
 *           claim              finish, or cancel while pending
 *   none ----------> held ----------------------------------------> none, finally
 *                    |  ^
 *   release,         |  |  claim: another worker continues the job. It polls the vendor's job that `sent` names. It
 *   releaseAll, or   |  |  calls a vendor again only if nothing was sent or if a repeated call costs nothing
 *   20 s without     v  |
 *   `renew`         lapsed
 */

/**
 * The store of jobs. Every method throws a `DependencyError` while the store is unavailable. The caller may then repeat
 * the call, because a repeated call changes nothing twice.
 */
export interface JobStore {
  /**
   * Accepts a job. Writes its row, its position in the queue and its hold (reserved money) on every budget in one
   * transaction. Resolves when the transaction is on the disk.
   */
  submit(job: NewJob): Promise<Submission>;
  /**
   * Returns the result of an earlier submission with the same gateway key and idempotency key: `known` or `other`.
   * Returns null when there is no earlier submission.
   */
  findSubmitted(keyId: string, idempotency: NonNullable<NewJob["idempotency"]>): Promise<Submission | null>;
  /** Returns a job of the organization; null for an unknown job and for a job of another organization. */
  get(organizationId: string, id: string): Promise<Job | null>;
  /** Returns jobs, newest first. */
  list(organizationId: string, page: JobPage): Promise<Job[]>;
  /**
   * Cancels a pending job immediately. Notifies the worker of a running job. Does not change an ended job. Returns the
   * job after the change, or null as `get` does. `files` are the names of blobs that are no longer needed.
   */
  cancel(organizationId: string, id: string): Promise<{ job: Job; files: string[] } | null>;

  /** Resolves to true when `claim` might find a job. A call is cheap. */
  hasWork(): Promise<boolean>;
  /**
   * Takes the lease of a job. Returns null when no job can be claimed. A job whose worker has ended comes before queued
   * jobs. Organizations take turns, and so do the keys of each organization. Respects the limits of running jobs.
   */
  claim(worker: string, runningLimit: RunningLimit): Promise<ClaimedJob | null>;
  /** Prolongs leases. Returns this worker's leases by job id. A missing lease was lost, or its job has ended. */
  renew(leases: readonly JobLease[]): Promise<ReadonlyMap<string, { isCancelRequested: boolean }>>;
  /** Returns the ids of this worker's jobs whose cancellation was requested. */
  cancelling(worker: string): Promise<string[]>;
  /**
   * Records that the worker is about to call a vendor. Changes the status `pending` to `in_progress`. Returns false
   * when the worker has lost the lease or the job no longer exists.
   */
  send(lease: JobLease, target: SentTarget): Promise<boolean>;
  /** Stores the ids of the vendor's own jobs. Returns false when the worker has lost the lease. */
  rememberVendorJobs(lease: JobLease, sent: SentJob): Promise<boolean>;
  /** Marks the job as storing its pictures. Returns false when the worker has lost the lease. */
  store(lease: JobLease): Promise<boolean>;
  /**
   * Ends a job in one transaction: writes its outputs, its ledger entry and its webhooks, and releases its hold.
   * Returns false and changes nothing when the worker has lost the lease.
   */
  finish(lease: JobLease, ending: JobEnding): Promise<boolean>;
  /** Gives up leases, so that another worker can continue the jobs immediately. */
  release(leases: readonly JobLease[]): Promise<void>;
  /** Gives up all leases of a worker that has ended. */
  releaseAll(worker: string): Promise<void>;

  /**
   * Ends queued jobs whose deadline has passed. Returns the number of jobs that it found and the names of blobs that
   * are no longer needed. While the number equals `limit`, call this method again.
   */
  endOverdue(limit: number): Promise<{ count: number; files: string[] }>;
  /**
   * Turns completed jobs that were created more than `retentionMs` ago into tombstones: rows without outputs. Returns
   * the number of tombstones and the names of the pictures. While the number equals `limit`, call it again.
   */
  expire(retentionMs: number, limit: number): Promise<{ count: number; names: string[] }>;
  /**
   * Removes ended jobs that were created more than `retentionMs` ago. Returns the number of removed jobs. While the
   * number equals `limit`, call this method again.
   */
  remove(retentionMs: number, limit: number): Promise<number>;
  /** Returns the organizations with unfinished jobs. */
  queues(): Promise<JobQueue[]>;
  /** Calls `wake` when another process may have added work or a cancellation. Null if the database cannot notify. */
  wakes(wake: () => void): Promise<{ stop(): Promise<void> } | null>;
}

/** Returns the maximum number of an organization's running jobs; null for no maximum. */
export type RunningLimit = (organizationId: string) => number | null;

export interface NewJob {
  id: string;
  organizationId: string;
  keyId: string;
  requestId: string;
  model: string;
  typicalMs: number;
  /** Milliseconds from the job's creation. */
  deadlineMs: number;
  webhookUrl: string | null;
  /** Base address of the links to the job's results in webhook messages. */
  linkBase: string;
  idempotency: { key: string; fingerprint: string } | null;
  terms: JobTerms;
  /** The caller's request as text. Its files are stored as blobs named in `files`. */
  request: string;
  files: readonly string[];
  /** Maximum numbers of queued jobs; null means unlimited. */
  queuedLimit: { organization: number | null; key: number | null };
  /** Maximum number of running jobs of the key; null means unlimited. */
  keyRunningLimit: number | null;
}

/** The price, budgets and ledger details that were fixed at the admission of the job. */
export interface JobTerms {
  /** Time in Unix milliseconds at which the price was read. */
  admittedAt: number;
  price: ImagePrice;
  /** The maximum cost, which is held on each budget. */
  ceiling: Nanos;
  budgets: readonly string[];
  /** `playground/` and the name of the member who submitted the job in the console, for the ledger; otherwise null. */
  source: string | null;
  /** Name of the client's program, for the ledger; null when it is unknown. */
  client: string | null;
}

export type Submission =
  | { kind: "accepted" | "known"; job: Job }
  /** An earlier job with this idempotency key had a different request. */
  | { kind: "other" }
  | { kind: "full"; scope: "organization" | "key"; limit: number }
  /** `spent`: the budget is used up. `held`: other requests hold the rest and may return a part of it. */
  | { kind: "exhausted"; reason: BudgetRefusal };

export interface JobPage {
  limit: number;
  offset: number;
  statuses: readonly JobStatus[];
  /** Earliest creation, in Unix milliseconds, inclusive; null for no bound. */
  createdFrom: number | null;
  /** Latest creation, in Unix milliseconds, exclusive; null for no bound. */
  createdTo: number | null;
}

/** The right of one worker to run and change a job. It ends when another worker claims the job or the job ends. */
export interface JobLease {
  jobId: string;
  organizationId: string;
  keyId: string;
  fence: number;
}

/** A job that this worker has to run. */
export interface ClaimedJob extends JobLease {
  requestId: string;
  model: string;
  status: "pending" | "in_progress";
  createdAt: number;
  /** Milliseconds until the job's deadline; zero or negative when the deadline has passed. */
  remainingMs: number;
  /** Milliseconds between the job's creation and its first claim; null when this claim is not the first. */
  pickUpMs: number | null;
  isCancelRequested: boolean;
  /** False when the job's key was disabled or deleted or has expired. */
  isKeyUsable: boolean;
  terms: JobTerms;
  request: string;
  /** The target to which an earlier worker may have sent the job; null when no worker has sent it. */
  sent: SentJob | null;
}

interface SentTarget {
  channel: string;
  upstreamModel: string;
}

interface SentJob extends SentTarget {
  /** Ids of the vendor's jobs, by number of the call. A channel may split an order into several calls. */
  vendorJobs: Readonly<Record<string, string>>;
}

export interface JobEnding {
  status: "completed" | "failed" | "cancelled";
  outputs: JobOutput[];
  error: JobError | null;
  /** The ledger entry; null for none. Its charge is zero when it only records an orphan cost (unbilled work). */
  entry: LedgerEntry | null;
}

/** The unfinished jobs of one organization. */
export interface JobQueue {
  organizationId: string;
  queued: number;
  running: number;
  /** Waiting time of the oldest queued job, in milliseconds. */
  oldestMs: number;
}
