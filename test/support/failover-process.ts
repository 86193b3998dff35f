import type { Target } from "../../src/domain/channel.ts";
import type { Attempt } from "../../src/domain/ledger.ts";
import { UpstreamError, type UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import { ConcurrencyLimiter } from "../../src/gateway/routing/call-bounds.ts";
import type { Failover } from "../../src/gateway/routing/failover.ts";
import { Health } from "../../src/gateway/routing/health.ts";
import { RetryBudget } from "../../src/gateway/routing/call-bounds.ts";
import { DeadlineTimer } from "../../src/lib/deadline-timer.ts";

export const clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Returns the context of failover in a process that has made no calls. */
export function process(overrides: Partial<Failover> = {}): Failover {
  return {
    clock,
    deadlineTimer: new DeadlineTimer(10),
    health: new Health(clock),
    retryBudget: new RetryBudget(clock, 1, 1000),
    concurrency: new ConcurrencyLimiter(100),
    calls: new Set(),
    maxAttempts: 3,
    ...overrides,
  };
}

/** Returns a target on a channel with this id. */
export function target(id: string, maxConcurrent?: number): Target {
  return { channel: { id, provider: "p", settings: {}, maxConcurrent }, upstreamModel: "m", weight: 1 };
}

/** Returns an organization's request that may call these targets. */
export function request(
  targets: Target[],
  callTarget: (target: Target) => Promise<string>,
  client = new AbortController().signal,
) {
  const attempts: Attempt[] = [];
  const failsOver = ({ kind }: UpstreamError): boolean => kind !== "rejected";
  return {
    model: "public",
    targets,
    organization: "org",
    clientSignal: client,
    totalMs: 5000,
    failsOver,
    callTarget,
    attempts,
  };
}

/** Returns a call that fails with this kind of error. */
export const fail = (kind: UpstreamErrorKind, detail = {}): Promise<string> =>
  Promise.reject(new UpstreamError(kind, kind, detail));
