import type { RequestEvent } from "../domain/request-event.ts";
import type { RequestContext } from "../gateway/request-context.ts";
import type { ClaimedJob, JobEnding } from "./ports.ts";

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
  /** Unix milliseconds at which it was claimed. */
  at: number;
  /** The time of the claim in monotonic milliseconds. */
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
    traceId: null,
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
