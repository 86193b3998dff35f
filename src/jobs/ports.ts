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
 * The store of jobs. Every method throws a `DependencyError` while the store is unavailable, and repeating a call then
 * changes nothing twice.
 */
export interface JobStore {
  /**
   * Accepts a job: writes its row, its place in the queue and its hold on every budget in one transaction, which is on
   * the disk when this resolves.
   */
  submit(job: NewJob): Promise<Submission>;
  /**
   * Returns the earlier submission with the same idempotency key of a gateway key: `known` or `other`; null for a new
   * one.
   */
  findSubmitted(keyId: string, idempotency: NonNullable<NewJob["idempotency"]>): Promise<Submission | null>;
  /** Returns a job of the organization; null for an unknown job or one of another organization. */
  get(organizationId: string, id: string): Promise<Job | null>;
  /** Returns jobs, newest first. */
  list(organizationId: string, page: JobPage): Promise<Job[]>;
  /**
   * Cancels a job: a pending one at once, a running one by notifying its worker; an ended job is not changed. Returns
   * the job as it is afterwards, null as `get` does. `files` are blobs that are no longer needed.
   */
  cancel(organizationId: string, id: string): Promise<{ job: Job; files: string[] } | null>;

  /** True when `claim` might find a job; cheap. */
  hasWork(): Promise<boolean>;
  /**
   * Takes the lease of a job: first of one whose worker has ended, else of a queued one by turns of organizations and
   * then of keys, within the limits of running jobs. Returns null when there is none.
   */
  claim(worker: string, runningLimit: RunningLimit): Promise<ClaimedJob | null>;
  /**
   * Prolongs leases. Returns those that are still held, by job id; the other jobs have ended or belong to another
   * worker.
   */
  renew(leases: readonly JobLease[]): Promise<ReadonlyMap<string, { isCancelRequested: boolean }>>;
  /** Returns the ids of this worker's jobs whose cancellation was requested. */
  cancelling(worker: string): Promise<string[]>;
  /**
   * Notes that a vendor is called next: `pending` becomes `in_progress`. Returns false when the lease or the job is
   * gone.
   */
  send(lease: JobLease, target: SentTarget): Promise<boolean>;
  /** Stores the ids that the vendor gave to its own jobs. Returns false when the lease is gone. */
  rememberVendorJobs(lease: JobLease, sent: SentJob): Promise<boolean>;
  /** Sets the state in which pictures are stored. Returns false when the lease is gone. */
  store(lease: JobLease): Promise<boolean>;
  /**
   * Ends a job: writes its outputs, its ledger entry, its webhooks and the release of its hold in one transaction.
   * Returns false when the lease is gone; then nothing has changed.
   */
  finish(lease: JobLease, ending: JobEnding): Promise<boolean>;
  /** Gives leases back, so that another worker takes over the jobs at once. */
  release(leases: readonly JobLease[]): Promise<void>;
  /** Gives back all leases of a worker that has ended. */
  releaseAll(worker: string): Promise<void>;

  /**
   * Ends queued jobs whose deadline has passed. Returns their number and the blobs that are no longer needed; call it
   * again while the number equals `limit`.
   */
  endOverdue(limit: number): Promise<{ count: number; files: string[] }>;
  /**
   * Turns completed jobs created more than `retentionMs` ago into tombstones without outputs. Returns the names of
   * their pictures; call it again while there are as many jobs as `limit`.
   */
  expire(retentionMs: number, limit: number): Promise<{ count: number; names: string[] }>;
  /**
   * Removes ended jobs created more than `retentionMs` ago. Returns their number; call it again while it equals
   * `limit`.
   */
  remove(retentionMs: number, limit: number): Promise<number>;
  /** Returns the organizations with live jobs. */
  queues(): Promise<JobQueue[]>;
  /**
   * Calls `wake` when other processes may have added work or requested a cancellation. Resolves to null where the
   * database cannot notify.
   */
  wakes(wake: () => void): Promise<{ stop(): Promise<void> } | null>;
}

/** Returns how many jobs an organization may run at once; null is unlimited. */
export type RunningLimit = (organizationId: string) => number | null;

export interface NewJob {
  id: string;
  organizationId: string;
  keyId: string;
  requestId: string;
  model: string;
  typicalMs: number;
  /** Milliseconds from its creation. */
  deadlineMs: number;
  webhookUrl: string | null;
  /** Base address of links to its results, for messages about its end. */
  linkBase: string;
  idempotency: { key: string; fingerprint: string } | null;
  terms: JobTerms;
  /** The caller's request as text. Its files are stored as blobs named in `files`. */
  request: string;
  files: readonly string[];
  /** Maximum of waiting jobs; null is unlimited. */
  queuedLimit: { organization: number | null; key: number | null };
  /** Maximum of jobs of the key that run at once; null is unlimited. */
  keyRunningLimit: number | null;
}

/** The terms on which a job was admitted and is charged. */
export interface JobTerms {
  /** Unix milliseconds at which the price was taken. */
  admittedAt: number;
  price: ImagePrice;
  /** The maximum cost; held on each of the budgets. */
  ceiling: Nanos;
  budgets: readonly string[];
  /** The member or program that submitted it, for the ledger; null for the holder of the key. */
  source: string | null;
  /** As in the ledger. */
  client: string | null;
}

export type Submission =
  | { kind: "accepted" | "known"; job: Job }
  /** The idempotency key belongs to a job with another request. */
  | { kind: "other" }
  | { kind: "full"; scope: "organization" | "key"; limit: number }
  /** The budget is `spent`, or others hold the rest of it (`held`) and may give back what they do not use. */
  | { kind: "exhausted"; reason: BudgetRefusal };

export interface JobPage {
  limit: number;
  offset: number;
  statuses: readonly JobStatus[];
  /** Unix milliseconds, inclusive. */
  createdFrom: number | null;
  /** Unix milliseconds, exclusive. */
  createdTo: number | null;
}

/** The right to run a job and to write to it until another worker has claimed it. */
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
  /** Milliseconds until its deadline; zero or negative when that has passed. */
  remainingMs: number;
  /** Milliseconds between its creation and its first claim; null for a repeated claim. */
  pickUpMs: number | null;
  isCancelRequested: boolean;
  /** False once its key was disabled or deleted or has expired. */
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
  /** Ids of the vendor's jobs by call; several where a channel fans out. */
  vendorJobs: Readonly<Record<string, string>>;
}

export interface JobEnding {
  status: "completed" | "failed" | "cancelled";
  outputs: JobOutput[];
  error: JobError | null;
  /** The charge, or a record of cost without one. */
  entry: LedgerEntry | null;
}

/** The live jobs of one organization. */
export interface JobQueue {
  organizationId: string;
  queued: number;
  running: number;
  /** Waiting time of the oldest queued job, milliseconds. */
  oldestMs: number;
}
