import { targetName, type Target } from "../../domain/channel.ts";
import type { Attempt } from "../../domain/ledger.ts";
import { newSpanId, type RequestTrace, traceparentOf } from "../../domain/trace.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import type { Clock } from "../../lib/clock.ts";
import type { DeadlineTimer } from "../../lib/deadline-timer.ts";
import { sleep } from "../../lib/waiting.ts";
import { Call, ClientDisconnected } from "./call.ts";
import type { ConcurrencyLimiter, RetryBudget } from "./call-bounds.ts";
import type { Health } from "./health.ts";
import { TargetQueue } from "./target-queue.ts";
import { random } from "../../lib/random.ts";

/** The objects of the process that failover uses. */
export interface Failover {
  clock: Clock;
  deadlineTimer: DeadlineTimer;
  health: Health;
  retryBudget: RetryBudget;
  concurrency: ConcurrencyLimiter;
  /** All running calls. A process aborts these calls when it stops. */
  calls: Set<Call>;
  /** Maximum number of calls for one request, including the first. */
  maxAttempts: number;
}

interface FailoverRequest<Reply> {
  /** The public id of the model. Messages to the caller name the model only by this id. */
  model: string;
  /** Targets in calling order. */
  targets: readonly Target[];
  /** The model's context in tokens, for targets without a context of their own; undefined when it is unknown. */
  contextWindow?: number | undefined;
  /** The target to call next after a timeout, even if it is not in `targets`; null or absent for none. */
  afterTimeout?: Target | null | undefined;
  /** Id of the organization that sends the request. */
  organization: string;
  /** Aborted when the client disconnects. */
  clientSignal: AbortSignal;
  /** Maximum milliseconds of a call if its channel sets none. After this time, the request begins no further call. */
  totalMs: number;
  /** True when another target may be called after this failure. */
  failsOver(error: UpstreamError): boolean;
  /**
   * Calls one target. The promise resolves when the target's reply will be used; after that no other target is called.
   * `canMoveOn` returns true while another target could be called instead.
   */
  callTarget(target: Target, call: Call, canMoveOn: () => boolean): Promise<Reply>;
  /** Receives each attempt when its reply is used or it has failed. */
  attempts: Attempt[];
  /** The request's trace, while traces are exported. */
  trace?: RequestTrace | null | undefined;
}

export interface Committed<Reply> {
  reply: Reply;
  target: Target;
  call: Call;
  /** Releases the channel's slot and clears the call's deadlines. Call it once the reply has been read to its end. */
  release(): void;
}

const FIRST_BACKOFF_MS = 100;

/**
 * Calls targets until one replies. Throws an `UpstreamError` when no target replies, and `ClientDisconnected` when the
 * client disconnects. An ejected target is skipped. When all targets are ejected, no target is called.
 */
export async function callTargets<Reply>(
  process: Failover,
  request: FailoverRequest<Reply>,
): Promise<Committed<Reply>> {
  const { clock, health, retryBudget, concurrency } = process;
  const { organization, targets } = request;
  const startedAt = clock.monotonic();
  const queue = new TargetQueue(targets, process, organization, request.afterTimeout);
  let last: UpstreamError | undefined;
  let isForAccounts = true;
  let full: Set<Target> | null = null;
  let hasWaited = false;
  for (let target = queue.next(); target; target = queue.next()) {
    const earlierCalls = queue.callsTo(target);
    if (earlierCalls > 0) {
      if (!retryBudget.takeRetry(targetName(target))) continue;
      await backOff(earlierCalls, request.clientSignal);
    }
    let slot = concurrency.take(target.channel, organization);
    if (!slot && !full?.has(target)) {
      (full ??= new Set()).add(target);
      // When no other target is left, the request returns to this target and waits for a slot.
      if (earlierCalls === 0) queue.repeat(target);
      continue;
    }
    if (!slot && !hasWaited) {
      hasWaited = true;
      slot = await waitForSlot(process, request, target);
    }
    if (!slot) continue;
    if (!health.tryCall(target, organization)) {
      slot[Symbol.dispose]();
      continue;
    }
    if (earlierCalls === 0) retryBudget.countCall(targetName(target), startedAt);
    queue.countCall(target);
    const outcome = await callOne(process, request, { target, queue, slot });
    if (!("error" in outcome)) return outcome;
    const { error } = outcome;
    if (error.kind !== "account" && !error.isUnsent) isForAccounts = false;
    // An earlier call's failure explains more than an error that arose before sending.
    if (!error.isUnsent || !last) last = error;
    if (!request.failsOver(error) || clock.monotonic() - startedAt >= request.totalMs) break;
    if (isRepeatable(error, earlierCalls)) queue.repeat(target);
    if (error.kind === "timeout") queue.moveAfterTimeout();
    if (error.kind === "too_long") queue.dropNoLarger(target, request.contextWindow);
  }
  if (!last) throw full ? atCapacity() : allEjected(health, targets, organization);
  const reasons = reasonsOfEjections(health, targets, organization);
  last.isFinal = isForAccounts && !full && !reasons.has("overload") && !reasons.has("limited");
  throw last;
}

/**
 * Limits of the recorded fields without effect: their number, and the length of a name. Callers of image endpoints can
 * send any number of fields with any names.
 */
const MAX_PARAMS = 32;
const MAX_PARAM = 64;

function cutParam(name: string): string {
  return name.slice(0, MAX_PARAM).toWellFormed();
}

async function callOne<Reply>(
  { clock, deadlineTimer, health, calls }: Failover,
  { model, callTarget, attempts, clientSignal, organization, totalMs, trace }: FailoverRequest<Reply>,
  { target, queue, slot }: { target: Target; queue: TargetQueue; slot: Disposable },
): Promise<Committed<Reply> | { error: UpstreamError }> {
  const startedAt = clock.monotonic();
  const call = new Call(deadlineTimer, clientSignal, target.channel.timeouts?.totalMs ?? totalMs);
  call.waiting = { channel: target.channel.id, organization, since: startedAt };
  calls.add(call);
  const span = trace?.isSampled ? { spanId: newSpanId(), startedAt } : null;
  if (trace) call.cancellation.traceparent = traceparentOf(trace, span?.spanId ?? trace.spanId);
  const release = releaseOf(call, calls, slot);
  const record = (outcome: Attempt["outcome"], error?: UpstreamError): void => {
    const durationMs = Math.round(clock.monotonic() - startedAt);
    const vendorRequestId = call.vendorRequestId ?? error?.requestId;
    const { channel, upstreamModel } = target;
    const attempt: Attempt = { channel: channel.id, upstreamModel, durationMs, outcome };
    if (error?.status !== undefined) attempt.status = error.status;
    if (error?.isAmbiguous) attempt.isAmbiguous = true;
    if (vendorRequestId !== undefined) attempt.vendorRequestId = vendorRequestId;
    if (call.ignoredParams.length > 0)
      attempt.ignoredParams = call.ignoredParams.slice(0, MAX_PARAMS).map(cutParam);
    attempts.push(attempt);
    if (span) trace?.attempts.push(span);
  };
  try {
    const reply = await callTarget(target, call, () => queue.hasAnother());
    call.waiting = null;
    health.succeeded(target, organization);
    record("answered");
    return { reply, target, call, release };
  } catch (thrown) {
    release();
    const error = call.reasonOf(thrown);
    if (error instanceof UpstreamError) {
      health.failed(target, organization, error);
      record(error.kind, error);
      error.publicMessage = error.publicMessage && withPublicId(error.publicMessage, target, model);
      if (!call.cancellation.aborted) call.abort(error);
      return { error };
    }
    health.abandoned(target, organization);
    if (error instanceof ClientDisconnected) record("caller_gone");
    else if (call.cancellation.aborted) record("stopped");
    throw error;
  }
}

/** Replaces the vendor's name of the model in a message by the public id. */
function withPublicId(message: string, { upstreamModel }: Target, model: string): string {
  if (upstreamModel === model || !message.includes(upstreamModel)) return message;
  return message.replace(
    new RegExp(`(?<![\\w-])${RegExp.escape(upstreamModel)}(?![\\w-])`, "g"),
    () => model,
  );
}

/** True when another target may be called after this failure. `failOverRefusals` decides about refused content. */
export function mayFailOver({ kind, isUnsent }: UpstreamError, failOverRefusals: boolean): boolean {
  return isUnsent || (kind !== "rejected" && (kind !== "refused" || failOverRefusals));
}

/**
 * Returns the release function, which a stream keeps while it runs. The function is made in a scope of its own, so that
 * it does not keep the whole request in memory.
 */
function releaseOf(call: Call, calls: Set<Call>, slot: Disposable): () => void {
  return () => {
    call.finish();
    calls.delete(call);
    slot[Symbol.dispose]();
  };
}

/**
 * True when the target may be called again. An unreachable or overloaded target may be called several times. After a
 * failure that the request may have caused, the target may be called once more.
 */
function isRepeatable({ kind, status, isByRequest }: UpstreamError, earlierCalls: number): boolean {
  if (kind === "unreachable" || kind === "overloaded") return true;
  // A failure with an error status, such as 404, is final: a second call would get the same status.
  return isByRequest && (status === undefined || status < 400) && earlierCalls === 0;
}

/** Waits for a slot of the target's channel; resolves to null when none became free in time. */
async function waitForSlot<Reply>(
  { concurrency }: Failover,
  { organization, clientSignal }: FailoverRequest<Reply>,
  { channel }: Target,
): Promise<Disposable | null> {
  try {
    return await concurrency.wait(channel, organization, clientSignal);
  } catch {
    throw new ClientDisconnected();
  }
}

/**
 * Waits before a repeated call. The maximum wait doubles with each call, and the wait is random below it (full jitter).
 * Rejects with `ClientDisconnected` when the client disconnects.
 */
async function backOff(earlierCalls: number, clientSignal: AbortSignal): Promise<void> {
  try {
    await sleep(random() * FIRST_BACKOFF_MS * 2 ** (earlierCalls - 1), clientSignal);
  } catch {
    throw new ClientDisconnected();
  }
}

/** Returns the error for a request when all possible channels run their maximum of calls. */
function atCapacity(): UpstreamError {
  return new UpstreamError("overloaded", "every channel has reached its max_concurrent", {
    retryAfterSeconds: 1,
  });
}

/** Returns the error for a request whose targets are all ejected, with the time until a target may be called again. */
function allEjected(health: Health, targets: readonly Target[], organization: string): UpstreamError {
  const reasons = reasonsOfEjections(health, targets, organization);
  const waitMs = Math.min(...targets.map((target) => health.waitMs(target, organization)));
  const kind = reasons.has("overload") ? "overloaded" : reasons.has("limited") ? "limited" : "account";
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const names = namesOfEjected(health, targets, organization);
  return new UpstreamError(
    kind,
    `no vendor was called, because every target is out of service, and callers get this error until one works again; the first is tried in ${retryAfterSeconds} s. ${REMEDIES[kind]}. Out of service: ${names}`,
    { retryAfterSeconds, isFinal: kind === "account" },
  );
}

/** Advice to the operator while every target is ejected. */
const REMEDIES = {
  overloaded: "Look at the vendor's status, or give the model another target by `routes set`",
  limited: "Raise the limit at the vendor, or give the model another target by `routes set`",
  account: "Replace the credential by `channels set`, or pay at the vendor",
} as const;

/** Returns the ejected targets with reason and duration, such as `openai/gpt-5.4 (overload, for 12 s)`. */
function namesOfEjected(health: Health, targets: readonly Target[], organization: string): string {
  const names = new Set(targets.map(targetName));
  return health
    .ejections()
    .filter((each) => names.has(each.target) && [null, organization].includes(each.organization))
    .map(
      ({ target, reason, lastedMs }) => `${target} (${reason}, for ${Math.round((lastedMs ?? 0) / 1000)} s)`,
    )
    .join(", ");
}

function reasonsOfEjections(
  health: Health,
  targets: readonly Target[],
  organization: string,
): ReadonlySet<string> {
  const names = new Set(targets.map(targetName));
  return new Set(
    health
      .ejections()
      .filter((each) => names.has(each.target) && [null, organization].includes(each.organization))
      .map(({ reason }) => reason),
  );
}
