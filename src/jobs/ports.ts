/**
 * What jobs need from the store. Every method throws a `DependencyError` while the store is unavailable, and
 * repeating a call then changes nothing twice.
 */
import type { ImagePrice } from "../domain/price.ts";
import type { Job, JobError, JobOutput, JobStatus } from "../domain/job.ts";
import type { LedgerEntry } from "../domain/ledger.ts";
import type { Refusal } from "../gateway/metering/exhaustion-cache.ts";
import type { Nanos } from "../lib/money.ts";

export interface JobStore {
  /**
   * Accepts a job: its row, its place in the queue and its hold on every budget in one transaction, on the disk itself
   * when this resolves.
   */
  submit(job: NewJob): Promise<Submission>;
  /** What an idempotency key of a gateway key belongs to already: `known` or `other`; null for a new one. */
  findSubmitted(keyId: string, idempotency: NonNullable<NewJob["idempotency"]>): Promise<Submission | null>;
  /** A job of the organization; null for an unknown one and one of another organization. */
  get(organizationId: string, id: string): Promise<Job | null>;
  /** Newest first. */
  list(organizationId: string, page: JobPage): Promise<Job[]>;
  /**
   * Cancels: a pending job at once, a running one by telling its worker. Returns the job afterwards, null as `get`
   * does; an ended one is returned as it is. `files` are blobs that nobody needs any more.
   */
  cancel(organizationId: string, id: string): Promise<{ job: Job; files: string[] } | null>;

  /** Whether `claim` might find something; cheap. */
  hasWork(): Promise<boolean>;
  /**
   * Takes the lease of a job: first one whose worker is gone, else a queued one by turns of organizations and then of
   * keys, within the limits of running jobs. Null when there is none.
   */
  claim(worker: string, runningLimit: RunningLimit): Promise<ClaimedJob | null>;
  /**
   * Prolongs leases. Returns those that are still held, by job id; the other jobs belong to somebody else or have
   * ended.
   */
  renew(leases: readonly JobLease[]): Promise<ReadonlyMap<string, { isCancelRequested: boolean }>>;
  /** Ids of jobs of this worker whose cancellation was requested. */
  cancelling(worker: string): Promise<string[]>;
  /** A vendor is called next: `pending` turns into `in_progress`. False when the lease or the job is gone. */
  send(lease: JobLease, target: SentTarget): Promise<boolean>;
  /** The vendor has named its own jobs. False when the lease is gone. */
  rememberVendorJobs(lease: JobLease, sent: SentJob): Promise<boolean>;
  /** The pictures are being stored. */
  store(lease: JobLease): Promise<boolean>;
  /**
   * Ends a job, with its outputs, its ledger entry, its webhooks and the release of its hold in one transaction. False
   * when the lease is gone: then nothing has changed.
   */
  finish(lease: JobLease, ending: JobEnding): Promise<boolean>;
  /** Gives leases back, so that another worker takes the jobs over at once. */
  release(leases: readonly JobLease[]): Promise<void>;
  /** Gives back all leases of a worker that has ended. */
  releaseAll(worker: string): Promise<void>;

  /**
   * Ends queued jobs whose deadline has passed. Returns how many, and blobs that nobody needs any more; call again while
   * there are as many as `limit`.
   */
  endOverdue(limit: number): Promise<{ count: number; files: string[] }>;
  /**
   * Turns completed jobs created more than `retentionMs` ago into tombstones without outputs. Returns the names of their
   * pictures; call again while there are as many jobs as `limit`.
   */
  expire(retentionMs: number, limit: number): Promise<{ count: number; names: string[] }>;
  /** Removes ended jobs created so long ago. Returns how many; call again while there are as many as `limit`. */
  remove(retentionMs: number, limit: number): Promise<number>;
  /** Organizations with live jobs. */
  queues(): Promise<JobQueue[]>;
  /** Calls back when other processes may have made work or requested a cancellation, where the database can tell. */
  wakes(wake: () => void): Promise<{ stop(): Promise<void> } | null>;
}

/** Jobs that an organization may run at once; null is unlimited. */
export type RunningLimit = (organizationId: string) => number | null;

export interface NewJob {
  id: string;
  organizationId: string;
  keyId: string;
  requestId: string;
  model: string;
  typicalMs: number;
  /** From its creation on. */
  deadlineMs: number;
  webhookUrl: string | null;
  /** Base address of links to its results, for those who are told of its end. */
  linkBase: string;
  idempotency: { key: string; fingerprint: string } | null;
  terms: JobTerms;
  /** The caller's request as text; its files are stored as blobs of these names. */
  request: string;
  files: readonly string[];
  /** Jobs that may wait; null is unlimited. */
  queuedLimit: { organization: number | null; key: number | null };
  /** Jobs of the key that may run at once. */
  keyRunningLimit: number | null;
}

/** What a job was admitted on, and is charged by. */
export interface JobTerms {
  /** Unix milliseconds at which the price was taken. */
  admittedAt: number;
  price: ImagePrice;
  /** The most it may cost; held on each of the budgets. */
  ceiling: Nanos;
  budgets: readonly string[];
  /** Who submitted it, for the ledger; null is the holder of the key. */
  source: string | null;
}

export type Submission =
  | { kind: "accepted" | "known"; job: Job }
  /** The idempotency key belongs to a job with another request. */
  | { kind: "other" }
  | { kind: "full"; scope: "organization" | "key"; limit: number }
  /** The budget is `spent`, or what is left of it is `held` by others, who may give back what they do not use. */
  | { kind: "exhausted"; reason: Refusal };

export interface JobPage {
  limit: number;
  offset: number;
  statuses: readonly JobStatus[];
  /** Unix milliseconds, inclusive. */
  createdFrom: number | null;
  /** Unix milliseconds, exclusive. */
  createdTo: number | null;
}

/** The right to run a job, and to write to it until somebody else has claimed it. */
export interface JobLease {
  jobId: string;
  organizationId: string;
  keyId: string;
  fence: number;
}

/** A job that this worker is to run. */
export interface ClaimedJob extends JobLease {
  requestId: string;
  model: string;
  status: "pending" | "in_progress";
  createdAt: number;
  /** Milliseconds until its deadline; none or less when that has passed. */
  remainingMs: number;
  /** Milliseconds between its creation and its first claim; null for one that was claimed before. */
  pickUpMs: number | null;
  isCancelRequested: boolean;
  /** False once its key was disabled or deleted, or has expired. */
  isKeyUsable: boolean;
  terms: JobTerms;
  request: string;
  /** Where it was sent before the worker before was gone. */
  sent: SentJob | null;
}

interface SentTarget {
  channel: string;
  upstreamModel: string;
}

export interface SentJob extends SentTarget {
  /** Ids of the vendor's jobs by call: several where a channel fans out. */
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
  /** Of the queued job that waits longest, milliseconds. */
  oldestMs: number;
}
