import type { Target } from "../../domain/channel.ts";
import type { UpstreamError } from "../../domain/upstream-error.ts";
import type { Clock } from "../../lib/clock.ts";

/** Failures in a row that eject a target. */
const FAILURES_TO_EJECT = 5;
const FIRST_EJECTION_MS = 1_000;
/** A vendor that is well again gets traffic this much later at most. */
const MAX_EJECTION_MS = 30_000;
/** A dead account needs a person; asking it more often than this is noise. */
const ACCOUNT_EJECTION_MS = 60_000;
const MAX_RETRY_AFTER_MS = 60_000;
/** A probe that never reports back frees its place after this. */
const PROBE_MS = 30_000;

interface State {
  failures: number;
  ejections: number;
  /** Monotonic milliseconds until which it gets no traffic; 0 when it is healthy. */
  ejectedUntil: number;
  /** Monotonic milliseconds at which the running probe was let through; 0 when there is none. */
  probeSince: number;
  reason: Ejection["reason"];
}

/** An ejection as other processes should hear of it. */
export interface Ejection {
  target: string;
  reason: "overload" | "account" | "limited";
  durationMs: number;
}

/**
 * Which targets are worth asking, learned from real requests only. A target that keeps failing is ejected for a
 * time that doubles; when the time is over a single request probes it, and its success brings the target back.
 */
export class Health {
  readonly #states = new Map<string, State>();

  /** `announce` tells other processes where a shared store is configured. */
  constructor(
    private readonly clock: Clock,
    private readonly announce: (ejection: Ejection) => void = () => {},
  ) {}

  /** Whether the target may be asked now. A true answer for an ejected target makes this request its probe. */
  admits(target: Target): boolean {
    if (!this.isAskable(target)) return false;
    const state = this.#states.get(targetName(target));
    if (state && state.ejectedUntil > 0) state.probeSince = this.clock.monotonic();
    return true;
  }

  /** Whether it would be admitted now. */
  isAskable(target: Target): boolean {
    const state = this.#states.get(targetName(target));
    if (!state || state.ejectedUntil === 0) return true;
    const now = this.clock.monotonic();
    return now >= state.ejectedUntil && !(state.probeSince > 0 && now - state.probeSince < PROBE_MS);
  }

  /** Whether it gets ordinary traffic; asks without probing. */
  isEjected(target: Target): boolean {
    return (this.#states.get(targetName(target))?.ejectedUntil ?? 0) > 0;
  }

  /** Milliseconds until the target may be probed; 0 when it may be asked. */
  waitMs(target: Target): number {
    const until = this.#states.get(targetName(target))?.ejectedUntil ?? 0;
    return Math.max(0, until - this.clock.monotonic());
  }

  succeeded(target: Target): void {
    this.#states.delete(targetName(target));
  }

  /** The caller went before the outcome was known: a probe's place is free again. */
  abandoned(target: Target): void {
    const state = this.#states.get(targetName(target));
    if (state) state.probeSince = 0;
  }

  failed(target: Target, error: UpstreamError): void {
    // The request was at fault, not the target.
    if (error.kind === "refused" || error.kind === "rejected" || error.isByRequest)
      return this.abandoned(target);
    const name = targetName(target);
    const state = this.#states.get(name) ?? fresh();
    this.#states.set(name, state);
    const wasProbe = state.probeSince > 0;
    state.failures++;
    state.probeSince = 0;
    if (error.kind === "account") return this.#eject(name, state, "account", ACCOUNT_EJECTION_MS);
    const retryAfterMs = Math.min((error.retryAfterSeconds ?? 0) * 1000, MAX_RETRY_AFTER_MS);
    if (error.kind === "limited" && retryAfterMs > 0)
      return this.#eject(name, state, "limited", retryAfterMs);
    if (!wasProbe && state.failures < FAILURES_TO_EJECT) return;
    // What was under way when it was ejected tells nothing new.
    if (!wasProbe && this.clock.monotonic() < state.ejectedUntil) return;
    const durationMs = Math.min(FIRST_EJECTION_MS * 2 ** state.ejections, MAX_EJECTION_MS);
    state.ejections++;
    this.#eject(name, state, error.kind === "limited" ? "limited" : "overload", durationMs);
  }

  /** Takes over what another process found out. */
  apply({ target, reason, durationMs }: Ejection): void {
    const state = this.#states.get(target) ?? fresh();
    this.#states.set(target, state);
    state.reason = reason;
    state.ejectedUntil = Math.max(state.ejectedUntil, this.clock.monotonic() + durationMs);
  }

  /** What is ejected now, for metrics and dry runs. */
  ejections(): Ejection[] {
    const now = this.clock.monotonic();
    return [...this.#states]
      .filter(([, state]) => state.ejectedUntil > 0)
      .map(([target, state]) => ({
        target,
        reason: state.reason,
        durationMs: Math.max(0, state.ejectedUntil - now),
      }));
  }

  #eject(name: string, state: State, reason: Ejection["reason"], durationMs: number): void {
    state.reason = reason;
    state.ejectedUntil = this.clock.monotonic() + durationMs;
    this.announce({ target: name, reason, durationMs });
  }
}

/** A target's name in health, logs and metrics: `channel/upstream-model`. */
export function targetName({ channel, upstreamModel }: Target): string {
  return `${channel.id}/${upstreamModel}`;
}

function fresh(): State {
  return { failures: 0, ejections: 0, ejectedUntil: 0, probeSince: 0, reason: "overload" };
}
