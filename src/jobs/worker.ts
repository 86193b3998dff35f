import type { Organization } from "../domain/organization.ts";
import type { RequestEvent } from "../domain/request-event.ts";
import { type BeginTrace, visibleTraceId } from "../domain/trace.ts";
import { limitOf } from "../gateway/admission/limit-grant.ts";
import type { ImageCore } from "../gateway/images.ts";
import type { RequestContext } from "../gateway/request-context.ts";
import type { Spool } from "../lib/spool.ts";
import { type BackgroundWork, every, sleep } from "../lib/waiting.ts";
import type { ClaimedJob, JobEnding, JobStore } from "./ports.ts";
import { retryWhileUnavailable, RunControl } from "./run-control.ts";
import { contextOfJob, LeaseLost, runJob } from "./run-job.ts";
import { filesOf, removeBlobs } from "./stored-request.ts";

export interface JobWorkerOptions {
  core: ImageCore & { jobs: JobStore };
  /** Name of this process, new at every start. */
  worker: string;
  /** Maximum number of jobs that run in this process. */
  concurrency: number;
  createSpool(): Spool;
  observer: JobObserver;
  /** Null while no traces are exported. */
  beginTrace: BeginTrace | null;
  onProblem(message: string, cause: unknown): void;
}

/** Interval at which the worker looks for work that was not announced. */
const POLL_MS = 250;
const HEARTBEAT_MS = 5_000;
const CANCEL_POLL_MS = 1_000;
/** Pause after a failed claim. After an outage, every worker can thus renew its own leases first. */
const AFTER_OUTAGE_MS = HEARTBEAT_MS + 1_000;
/** Time that jobs have to stop when they are handed over to another worker. */
const HAND_OVER_MS = 2_000;

/** Runs jobs of the queue in this process until it is stopped. */
export class JobWorker {
  readonly #options: JobWorkerOptions;
  readonly #running = new Map<string, { job: ClaimedJob; control: RunControl; ended: Promise<void> }>();
  #background: BackgroundWork[] = [];
  #loop: Promise<void> = Promise.resolve();
  #listening: Promise<{ stop(): Promise<void> } | null> = Promise.resolve(null);
  #wake = Promise.withResolvers<void>();
  #isStopping = false;

  constructor(options: JobWorkerOptions) {
    this.#options = options;
  }

  /** Number of jobs that run in this process. */
  get running(): number {
    return this.#running.size;
  }

  start(): void {
    const { core, onProblem } = this.#options;
    const report = (error: unknown): void => onProblem("background work of jobs failed", error);
    this.#background = [
      every(HEARTBEAT_MS, () => this.#renew(), report),
      every(CANCEL_POLL_MS, () => this.#stopCancelled(), report),
    ];
    this.#listening = core.jobs
      .wakes(() => {
        this.wake();
        void this.#stopCancelled().catch(report);
      })
      .catch((error: unknown) => {
        report(error);
        return null;
      });
    this.#loop = this.#claimJobs();
  }

  /** Looks for work immediately. */
  wake(): void {
    this.#wake.resolve();
  }

  /** Cancels a running job. Does nothing when the job runs in another process. */
  cancel(jobId: string): void {
    this.#running.get(jobId)?.control.cancel();
  }

  /**
   * Starts no more jobs and waits at most `graceMs` for the running jobs. Then hands over the remaining jobs, which
   * another worker, or this process after its next start, continues.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.wake();
    const endsAt = performance.now() + graceMs;
    while (this.#running.size > 0 && performance.now() < endsAt) await sleep(20);
    const rest = [...this.#running.values()];
    for (const { control } of rest) control.stop("handed over");
    await Promise.race([Promise.all(rest.map(({ ended }) => ended)), sleep(HAND_OVER_MS)]);
    await this.#options.core.jobs.release(rest.map(({ job }) => job)).catch(() => {});
    for (const work of this.#background) void work.stop();
    const listening = this.#listening.then((listener) => listener?.stop());
    await Promise.race([Promise.all([this.#loop, listening]), sleep(HAND_OVER_MS)]);
  }

  async #claimJobs(): Promise<void> {
    while (!this.#isStopping) {
      try {
        while (this.#hasRoom() && (await this.#claimOne()));
      } catch (error) {
        this.#options.onProblem("no job could be claimed", error);
        await sleep(AFTER_OUTAGE_MS);
      }
      await Promise.race([this.#wake.promise, sleep(POLL_MS)]);
      this.#wake = Promise.withResolvers();
    }
  }

  #hasRoom(): boolean {
    return !this.#isStopping && this.#running.size < this.#options.concurrency;
  }

  async #claimOne(): Promise<boolean> {
    const { core, worker } = this.#options;
    if (!(await core.jobs.hasWork())) return false;
    const { organizations } = core.snapshot.directory();
    const job = await core.jobs.claim(worker, (id) => {
      const organization = organizations.get(id);
      // A new organization is not loaded yet. Its jobs wait up to half a second, or another worker takes them.
      if (!organization) return 0;
      return limitOf(organization.limits.runningJobs, core.limits.organization.runningJobs);
    });
    if (!job) return false;
    const organization = core.snapshot.directory().organizations.get(job.organizationId);
    if (!organization) throw new Error(`there is no organization ${job.organizationId}`);
    if (job.pickUpMs !== null) this.#options.observer.pickedUp(job.pickUpMs);
    const control = new RunControl(job);
    const ended = this.#run(job, organization, control).finally(() => {
      control[Symbol.dispose]();
      this.#running.delete(job.jobId);
      this.wake();
    });
    this.#running.set(job.jobId, { job, control, ended });
    return true;
  }

  async #run(job: ClaimedJob, organization: Organization, control: RunControl): Promise<void> {
    const { core, createSpool, observer, beginTrace, onProblem } = this.#options;
    const at = core.clock.now();
    const startedAt = core.clock.monotonic();
    const trace = beginTrace && beginTrace(null, job.jobId);
    const context = { ...contextOfJob(core, job, organization, control.signal), trace };
    try {
      await using spool = createSpool();
      const ending = await runJob({ job, core, context, control, spool });
      const finish = (): Promise<boolean> => core.jobs.finish(job, ending);
      if (!(await retryWhileUnavailable(finish, () => control.isHandedOver))) return;
      observer.ended({ job, ending, context, at, startedAt, durationMs: core.clock.monotonic() - startedAt });
      if (ending.entry) core.orphanCosts.add(job.keyId, ending.entry.orphanCost);
      await removeBlobs(core.blobs, filesOf(job.request));
    } catch (error) {
      if (!(error instanceof LeaseLost) && !control.isHandedOver)
        onProblem(`the run of job ${job.jobId} failed`, error);
    }
  }

  async #renew(): Promise<void> {
    if (this.#running.size === 0) return;
    const running = [...this.#running.values()];
    const held = await this.#options.core.jobs.renew(running.map(({ job }) => job));
    for (const { job, control } of running) {
      const lease = held.get(job.jobId);
      if (!lease) control.stop("lost");
      else if (lease.isCancelRequested) control.cancel();
    }
  }

  async #stopCancelled(): Promise<void> {
    if (this.#running.size === 0) return;
    for (const id of await this.#options.core.jobs.cancelling(this.#options.worker)) this.cancel(id);
  }
}

/** Receives events of jobs that ran in this process. Its methods must not throw. */
export interface JobObserver {
  /** Milliseconds between a job's submission and its first claim. */
  pickedUp(milliseconds: number): void;
  ended(run: EndedRun): void;
}

interface EndedRun {
  job: ClaimedJob;
  ending: JobEnding;
  context: RequestContext;
  /** Time of the claim in Unix milliseconds. */
  at: number;
  /** Time of the claim in milliseconds of the monotonic clock. */
  startedAt: number;
  durationMs: number;
}

/** Returns the record of a job's run in the form of a request's record, for the log and the metrics. */
export function eventOfRun({ job, ending, context, at, startedAt, durationMs }: EndedRun): RequestEvent {
  const { attempts, facts } = context;
  const { entry, error, status } = ending;
  return {
    id: job.jobId,
    requestId: job.requestId,
    ledgerId: entry?.id ?? null,
    traceId: context.trace ? visibleTraceId(context.trace) : null,
    trace: context.trace ?? null,
    route: "jobs.run",
    method: "",
    path: "",
    address: null,
    status: status === "completed" ? 200 : status === "cancelled" ? 499 : 500,
    code: error?.type ?? (status === "cancelled" ? "cancelled" : null),
    message: error?.message ?? null,
    at,
    startedAt,
    durationMs,
    firstByteMs: null,
    organizationId: job.organizationId,
    keyId: job.keyId,
    source: context.source,
    model: facts.model?.id ?? null,
    askedModel: null,
    client: null,
    modelPattern: facts.model?.pattern ?? null,
    channel: entry?.channel ?? null,
    isStream: false,
    usage: entry?.usage ?? null,
    surplus: facts.surplus,
    amount: entry?.amount ?? 0n,
    currency: entry?.currency ?? null,
    attempts,
    pictures: facts.pictures,
    content: facts.content,
    cause: undefined,
  };
}
