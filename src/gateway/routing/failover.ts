import type { Target } from "../../domain/channel.ts";
import type { Attempt } from "../../domain/ledger.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import type { Clock } from "../../lib/clock.ts";
import type { DeadlineTimer } from "../../lib/deadline-timer.ts";
import { Call, ClientDisconnected } from "./call.ts";
import { targetName, type Health } from "./health.ts";
import type { ConcurrencyLimiter } from "./concurrency-limiter.ts";
import type { RetryBudget } from "./retry-budget.ts";

/** What failing over needs to know of the process. */
export interface Failover {
  clock: Clock;
  deadlineTimer: DeadlineTimer;
  health: Health;
  retryBudget: RetryBudget;
  concurrency: ConcurrencyLimiter;
  /** Most calls for one request, the first included. */
  maxAttempts: number;
}

export interface FailoverRequest<Reply> {
  /** In the order they are to be asked. */
  targets: readonly Target[];
  /** Aborted when the caller goes. */
  clientSignal: AbortSignal;
  /** Wall-clock budget of all attempts together. Milliseconds. */
  totalMs: number;
  /** Whether this failure may be tried elsewhere. */
  failsOver(error: UpstreamError): boolean;
  /** Asks one target; resolves once its answer is committed to. `canMoveOn` tells whether another could take over now. */
  callTarget(target: Target, call: Call, canMoveOn: () => boolean): Promise<Reply>;
  /** Every attempt is added here as it ends. */
  attempts: Attempt[];
}

export interface Committed<Reply> {
  reply: Reply;
  target: Target;
  call: Call;
  /** To be called once the answer has been read to its end: frees the channel's place and ends the deadlines. */
  release(): void;
}

const FIRST_BACKOFF_MS = 100;

/**
 * Asks targets until one answers. Throws the last `UpstreamError` when none does, and `CallerGone` when nobody
 * waits any more. An ejected target is passed over; when all are, nothing is sent.
 */
export async function callTargets<Reply>(
  process: Failover,
  request: FailoverRequest<Reply>,
): Promise<Committed<Reply>> {
  const { clock, health, retryBudget, concurrency, maxAttempts } = process;
  const endsAt = clock.monotonic() + request.totalMs;
  const queue = [...request.targets];
  const asked: Target[] = [];
  let last: UpstreamError | undefined;
  let isCrowded = false;
  retryBudget.request();
  for (let target = queue.shift(); target; target = queue.shift()) {
    if (!health.admits(target)) continue;
    if (last && !retryBudget.retry()) {
      health.abandoned(target);
      break;
    }
    if (asked.includes(target))
      await pause(FIRST_BACKOFF_MS * 2 ** (asked.length - request.targets.length), request.clientSignal);
    const releaseSlot = concurrency.take(target.channel);
    if (!releaseSlot) {
      health.abandoned(target);
      isCrowded = true;
      continue;
    }
    asked.push(target);
    const isFree = (other: Target): boolean =>
      !asked.includes(other) && health.isAskable(other) && concurrency.isFree(other.channel);
    const canMoveOn = (): boolean =>
      asked.length < maxAttempts && retryBudget.hasCapacity() && queue.some(isFree);
    const outcome = await attempt(process, request, { target, canMoveOn, releaseSlot });
    if (!("error" in outcome)) return outcome;
    const { error } = outcome;
    // That this target cannot do it says less than why the one before did not.
    if (!error.isUnsent || !last) last = error;
    if (!request.failsOver(error) || asked.length >= maxAttempts || clock.monotonic() >= endsAt) break;
    // A target that broke down briefly may be asked again, after all others; one that answered oddly, once.
    const isOdd = error.isByRequest && asked.filter((other) => other === target).length === 1;
    if (error.kind === "unreachable" || error.kind === "overloaded" || isOdd) queue.push(target);
  }
  throw last ?? (isCrowded ? crowded() : nobodyAdmitted(health, request.targets));
}

async function attempt<Reply>(
  { clock, deadlineTimer, health }: Failover,
  { callTarget, attempts, clientSignal, totalMs }: FailoverRequest<Reply>,
  { target, canMoveOn, releaseSlot }: { target: Target; canMoveOn: () => boolean; releaseSlot: () => void },
): Promise<Committed<Reply> | { error: UpstreamError }> {
  const startedAt = clock.monotonic();
  const call = new Call(deadlineTimer, clientSignal, target.channel.timeouts?.totalMs ?? totalMs);
  const release = (): void => {
    call.finish();
    releaseSlot();
  };
  const note = (outcome: Attempt["outcome"], error?: UpstreamError): void => {
    const durationMs = Math.round(clock.monotonic() - startedAt);
    attempts.push({
      channel: target.channel.id,
      upstreamModel: target.upstreamModel,
      durationMs,
      outcome,
      ...(error?.status !== undefined && { status: error.status }),
      ...(error?.isAmbiguous && { isAmbiguous: true }),
    });
  };
  try {
    const reply = await callTarget(target, call, canMoveOn);
    health.succeeded(target);
    note("answered");
    return { reply, target, call, release };
  } catch (thrown) {
    release();
    const error = call.reasonOf(thrown);
    if (error instanceof UpstreamError) {
      health.failed(target, error);
      note(error.kind, error);
      if (!call.signal.aborted) call.abort(error);
      return { error };
    }
    health.abandoned(target);
    if (error instanceof ClientDisconnected) note("caller_gone");
    throw error;
  }
}

/** Full jitter, cut short when the caller goes. */
async function pause(maxMs: number, caller: AbortSignal): Promise<void> {
  if (caller.aborted) throw new ClientDisconnected();
  await Bun.sleep(Math.random() * maxMs);
}

/** Every channel that could answer has as many calls as it bears. */
function crowded(): UpstreamError {
  return new UpstreamError("overloaded", "every channel is at its bound", { retryAfterSeconds: 1 });
}

/** Every target is ejected: tells when the first may be asked again. */
function nobodyAdmitted(health: Health, targets: readonly Target[]): UpstreamError {
  const names = new Set(targets.map(targetName));
  const ejections = health.ejections().filter(({ target }) => names.has(target));
  const reasons = new Set(ejections.map(({ reason }) => reason));
  const waitMs = Math.min(...targets.map((target) => health.waitMs(target)));
  const kind = reasons.has("overload") ? "overloaded" : reasons.has("limited") ? "limited" : "account";
  return new UpstreamError(kind, "every target is ejected", {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}
