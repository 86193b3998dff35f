import type { ImagePrice } from "../domain/price.ts";
import type { Job, JobError, JobOutput, JobStatus } from "../domain/job.ts";
import type { LedgerEntry } from "../domain/ledger.ts";
import type { BudgetRefusal } from "../gateway/metering/exhaustion-cache.ts";
import type { Nanos } from "../lib/money.ts";

/*
 * States of a job. Every arrow is one transaction of the store.
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
 * `storing` is a stage and no status. `cancel` only requests the end of a job in progress; its worker ends it. `remove`
 * deletes ended jobs.
 *
 * States of a job's lease. `claim` raises the fence, so that later writes of an earlier worker change nothing.
 *
 *           claim              finish, or cancel while pending
 *   none ----------> held ----------------------------------------> none, for good
 *                    |  ^
 *   release,         |  |  claim by any worker takes the job over: it polls the vendor's job that `sent` names,
 *   releaseAll, or   |  |  and calls a vendor again only where nothing was sent or a call costs nothing
 *   20 s without     v  |
 *   `renew`         lapsed
 */

/**
 * The store of jobs. Every method throws a `DependencyError` while the store is unavailable. A call may then be
 * repeated: nothing is changed twice.
 */
export interface JobStore {
  /**
   * Accepts a job: writes its row, its place in the queue and its hold on every budget in one transaction. Resolves
   * when the transaction is on the disk.
   */
  submit(job: NewJob): Promise<Submission>;
  /**
   * Returns the result of an earlier submission by the same gateway key and idempotency key, `known` or `other`; null
   * when there was none.
   */
  findSubmitted(keyId: string, idempotency: NonNullable<NewJob["idempotency"]>): Promise<Submission | null>;
  /** Returns a job of the organization; null for an unknown job or a job of another organization. */
  get(organizationId: string, id: string): Promise<Job | null>;
  /** Returns jobs, newest first. */
  list(organizationId: string, page: JobPage): Promise<Job[]>;
  /**
   * Cancels a pending job at once, and notifies the worker of a running one. Does not change an ended job. Returns the
   * job as it is afterwards, or null as `get` does. `files` are the names of blobs that are no longer needed.
   */
  cancel(organizationId: string, id: string): Promise<{ job: Job; files: string[] } | null>;

  /** True when `claim` might find a job. A call costs little. */
  hasWork(): Promise<boolean>;
  /**
   * Takes the lease of a job: first of a job whose worker has ended, otherwise of a queued one. Organizations take
   * turns, and so do the keys of each. Respects the limits of running jobs. Returns null when there is no job.
   */
  claim(worker: string, runningLimit: RunningLimit): Promise<ClaimedJob | null>;
  /**
   * Prolongs leases. Returns the leases that are still held, by job id. The other jobs have ended or belong to another
   * worker.
   */
  renew(leases: readonly JobLease[]): Promise<ReadonlyMap<string, { isCancelRequested: boolean }>>;
  /** Returns the ids of this worker's jobs whose cancellation was requested. */
  cancelling(worker: string): Promise<string[]>;
  /**
   * Notes that a vendor is called next, which turns `pending` into `in_progress`. Returns false when the lease or the
   * job is gone.
   */
  send(lease: JobLease, target: SentTarget): Promise<boolean>;
  /** Stores the ids of the vendor's own jobs. Returns false when the lease is gone. */
  rememberVendorJobs(lease: JobLease, sent: SentJob): Promise<boolean>;
  /** Sets the stage in which pictures are stored. Returns false when the lease is gone. */
  store(lease: JobLease): Promise<boolean>;
  /**
   * Ends a job: writes its outputs, its ledger entry and its webhooks, and releases its hold, all in one transaction.
   * Returns false when the lease is gone; nothing is changed then.
   */
  finish(lease: JobLease, ending: JobEnding): Promise<boolean>;
  /** Gives leases back, so that another worker takes the jobs over at once. */
  release(leases: readonly JobLease[]): Promise<void>;
  /** Gives back all leases of a worker that has ended. */
  releaseAll(worker: string): Promise<void>;

  /**
   * Ends queued jobs whose deadline has passed. Returns their number and the names of blobs that are no longer needed.
   * Call it again while the number equals `limit`.
   */
  endOverdue(limit: number): Promise<{ count: number; files: string[] }>;
  /**
   * Turns completed jobs that were created more than `retentionMs` ago into tombstones without outputs. Returns their
   * number and the names of their pictures. Call it again while the number equals `limit`.
   */
  expire(retentionMs: number, limit: number): Promise<{ count: number; names: string[] }>;
  /**
   * Removes ended jobs that were created more than `retentionMs` ago. Returns their number. Call it again while the
   * number equals `limit`.
   */
  remove(retentionMs: number, limit: number): Promise<number>;
  /** Returns the organizations that have jobs which have not ended. */
  queues(): Promise<JobQueue[]>;
  /**
   * Calls `wake` when other processes may have added work or requested a cancellation. Resolves to null when the
   * database cannot notify.
   */
  wakes(wake: () => void): Promise<{ stop(): Promise<void> } | null>;
}

/** Returns the maximum number of an organization's running jobs; null when it is unlimited. */
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
  /** Base address of the links to the job's results, for messages about its end. */
  linkBase: string;
  idempotency: { key: string; fingerprint: string } | null;
  terms: JobTerms;
  /** The caller's request as text. Its files are stored as blobs named in `files`. */
  request: string;
  files: readonly string[];
  /** Maximum numbers of waiting jobs; null when unlimited. */
  queuedLimit: { organization: number | null; key: number | null };
  /** Maximum number of running jobs of the key; null when unlimited. */
  keyRunningLimit: number | null;
}

/** The terms on which a job was admitted and is charged. */
export interface JobTerms {
  /** Unix milliseconds at which the price was taken. */
  admittedAt: number;
  price: ImagePrice;
  /** The maximum cost, which is held on each budget. */
  ceiling: Nanos;
  budgets: readonly string[];
  /** The member or program that submitted the job, for the ledger; null for the holder of the key. */
  source: string | null;
  /** The client's program, as in the ledger. */
  client: string | null;
}

export type Submission =
  | { kind: "accepted" | "known"; job: Job }
  /** The idempotency key belongs to a job with another request. */
  | { kind: "other" }
  | { kind: "full"; scope: "organization" | "key"; limit: number }
  /** The budget is `spent`, or others hold the rest of it (`held`) and may return the part that they do not use. */
  | { kind: "exhausted"; reason: BudgetRefusal };

export interface JobPage {
  limit: number;
  offset: number;
  statuses: readonly JobStatus[];
  /** Earliest creation, in Unix milliseconds, inclusive. */
  createdFrom: number | null;
  /** Latest creation, in Unix milliseconds, exclusive. */
  createdTo: number | null;
}

/** The right to run a job and to change it, until another worker claims the job. */
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
  /** Milliseconds until the job's deadline; zero or negative when it has passed. */
  remainingMs: number;
  /** Milliseconds between the job's creation and its first claim; null when this claim is not the first. */
  pickUpMs: number | null;
  isCancelRequested: boolean;
  /** False when the job's key was disabled or deleted or has expired. */
  isKeyUsable: boolean;
  terms: JobTerms;
  request: string;
  /** The target to which an earlier worker has sent the job; null when none has. */
  sent: SentJob | null;
}

interface SentTarget {
  channel: string;
  upstreamModel: string;
}

interface SentJob extends SentTarget {
  /** Ids of the vendor's jobs, by call. There are several when a channel fans out. */
  vendorJobs: Readonly<Record<string, string>>;
}

export interface JobEnding {
  status: "completed" | "failed" | "cancelled";
  outputs: JobOutput[];
  error: JobError | null;
  /** The ledger entry: a charge, which may be zero with an orphan cost. */
  entry: LedgerEntry | null;
}

/** The unfinished jobs of one organization. */
export interface JobQueue {
  organizationId: string;
  queued: number;
  running: number;
  /** Milliseconds that the oldest queued job has waited. */
  oldestMs: number;
}
