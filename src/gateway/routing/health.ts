import { type Target, targetName } from "../../domain/channel.ts";
import { KINDS_BY_REQUEST, type UpstreamError } from "../../domain/upstream-error.ts";
import type { Clock } from "../../lib/clock.ts";

/** Number of consecutive failures after which a target is ejected. */
const FAILURES_TO_EJECT = 5;
/** Number of organizations whose requests must have failed before a target is ejected for all organizations. */
const ORGANIZATIONS_TO_EJECT = 2;
const FIRST_EJECTION_MS = 1_000;
/**
 * Longest ejection, except after a refused credential or a `Retry-After`. A target that has recovered gets requests at
 * most this much later.
 */
const MAX_EJECTION_MS = 30_000;
/** Ejection time after a refused credential. Earlier calls are useless: only an operator can replace credentials. */
const ACCOUNT_EJECTION_MS = 60_000;
const MAX_RETRY_AFTER_MS = 60_000;
/** Time after which another probe is allowed if the running probe has no outcome. */
const PROBE_MS = 30_000;
/** Maximum number of organizations remembered for each target. The oldest organizations are forgotten first. */
const MAX_ORGANIZATIONS = 10_000;

/**
 * Decides which targets may be called, and learns only from real requests. Consecutive failures eject a target for the
 * organization whose requests failed. Failures of a second organization eject the target for all organizations, so one
 * organization alone cannot take a target from others. A refused credential immediately ejects the target for all
 * organizations. After each ejection, a single request probes the target.
 */
export class Health {
  readonly #clock: Clock;
  readonly #announce: (ejection: Ejection) => void;
  readonly #onChange: (change: TargetChange) => void;
  readonly #targets = new Map<string, TargetHealth>();

  /**
   * `announce` sends an ejection to the other processes if there is a shared store. `onChange` is called for each
   * target that goes out of service or returns to service, also after an announcement of another process.
   */
  constructor(
    clock: Clock,
    announce: (ejection: Ejection) => void = () => {},
    onChange: (change: TargetChange) => void = () => {},
  ) {
    this.#clock = clock;
    this.#announce = announce;
    this.#onChange = onChange;
  }

  /** Returns true when the target may be called now. After an ejection, the first allowed call is the probe. */
  tryCall(target: Target, organization: string): boolean {
    if (!this.isAvailable(target, organization)) return false;
    const states = this.#statesOf(target, organization);
    const now = this.#clock.monotonic();
    for (const state of states) if (state.ejectedUntil > 0) state.probeSince = now;
    return true;
  }

  /** True when `tryCall` would return true now. */
  isAvailable(target: Target, organization: string): boolean {
    return this.firstAvailable([target], organization) === 0;
  }

  /** Returns the index of the first available target; -1 when there is none. */
  firstAvailable(targets: readonly Target[], organization: string): number {
    if (this.#targets.size === 0) return targets.length > 0 ? 0 : -1;
    const now = this.#clock.monotonic();
    return targets.findIndex((target) => {
      const health = this.#targets.get(targetName(target));
      if (!health) return true;
      if (!isCallable(health.everyone, now)) return false;
      const own = health.own.get(organization);
      return own === undefined || isCallable(own, now);
    });
  }

  /** True when a call to the target has failed and no later call has succeeded, for this organization or for all. */
  isSuspect(target: Target, organization: string): boolean {
    return this.#statesOf(target, organization).some(
      ({ failures, ejectedUntil }) => failures > 0 || ejectedUntil > 0,
    );
  }

  /** Returns the milliseconds until the target's ejection ends; 0 when the target is not ejected. */
  waitMs(target: Target, organization: string): number {
    const until = this.#statesOf(target, organization).map(({ ejectedUntil }) => ejectedUntil);
    return Math.max(0, ...until.map((end) => end - this.#clock.monotonic()));
  }

  succeeded(target: Target, organization: string): void {
    if (this.#targets.size === 0) return;
    const name = targetName(target);
    const health = this.#targets.get(name);
    if (!health) return;
    const own = health.own.get(organization);
    if (own) this.#isBack(name, organization, own);
    this.#isBack(name, null, health.everyone);
    health.everyone = newState();
    health.failedFor.clear();
    health.own.delete(organization);
    if (health.own.size === 0) this.#targets.delete(name);
  }

  /**
   * Must be called when a vendor call ended without an outcome, for example because the client disconnected. The next
   * vendor call may then be the probe.
   */
  abandoned(target: Target, organization: string): void {
    for (const state of this.#statesOf(target, organization)) state.probeSince = 0;
  }

  failed(target: Target, organization: string, error: UpstreamError): void {
    // The request caused the failure; the target is not at fault.
    if (KINDS_BY_REQUEST.has(error.kind) || error.isByRequest) return this.abandoned(target, organization);
    const health = this.#open(targetName(target));
    const own = this.#ownState(health, organization);
    const isProbe = { own: own.probeSince > 0, everyone: health.everyone.probeSince > 0 };
    for (const state of [own, health.everyone]) {
      state.failures++;
      state.probeSince = 0;
    }
    if (health.failedFor.size < ORGANIZATIONS_TO_EJECT) health.failedFor.add(organization);
    if (error.kind === "account") return this.#eject(health, null, "account", ACCOUNT_EJECTION_MS);
    const retryAfterMs = Math.min((error.retryAfterSeconds ?? 0) * 1000, MAX_RETRY_AFTER_MS);
    if (error.kind === "limited" && retryAfterMs > 0)
      return this.#ejectLimited(health, organization, retryAfterMs);
    const reason = error.kind === "limited" ? "limited" : "overload";
    // An organization with its own ejection may cause the failures. Its probes must not block others for long.
    const isOwnTrouble = own.ejectedUntil > 0;
    if (this.#isEjecting(own, isProbe.own)) {
      this.#eject(health, organization, reason, nextEjectionMs(own));
    }
    if (
      health.failedFor.size >= ORGANIZATIONS_TO_EJECT &&
      this.#isEjecting(health.everyone, isProbe.everyone)
    ) {
      const durationMs = isOwnTrouble ? FIRST_EJECTION_MS : nextEjectionMs(health.everyone);
      this.#eject(health, null, reason, durationMs);
    }
  }

  /** Applies the ejection that another process announced. */
  apply({ target, organization, reason, durationMs }: Ejection): void {
    const health = this.#open(target);
    const state = organization === null ? health.everyone : this.#ownState(health, organization);
    this.#isOut(target, organization, state, reason);
    state.ejectedUntil = Math.max(state.ejectedUntil, this.#clock.monotonic() + durationMs);
  }

  /** Forgets the state of channels whose configuration has changed. */
  forgetChannels(ids: readonly string[]): void {
    for (const id of ids)
      for (const [name, { everyone, own }] of this.#targets) {
        if (!name.startsWith(`${id}/`)) continue;
        for (const [organization, state] of own) this.#isBack(name, organization, state);
        this.#isBack(name, null, everyone);
        this.#targets.delete(name);
      }
  }

  /** Returns the current ejections. With a duration of 0, the target returns to service after a successful probe. */
  ejections(): Ejection[] {
    const now = this.#clock.monotonic();
    return [...this.#targets.values()].flatMap(({ name, everyone, own }) => {
      const states: [string | null, State][] = [[null, everyone], ...own];
      return states
        .filter(([, { ejectedUntil }]) => ejectedUntil > 0)
        .map(([organization, { reason, ejectedUntil, ejectedAt }]) => ({
          target: name,
          organization,
          reason,
          durationMs: Math.max(0, ejectedUntil - now),
          lastedMs: now - ejectedAt,
        }));
    });
  }

  /**
   * Ejects the target for the organization. If another organization is limited too, ejects the target for all
   * organizations. A vendor's limit may concern the requests of only one organization, for example when they have more
   * tokens than the vendor allows per minute.
   */
  #ejectLimited(health: TargetHealth, organization: string, durationMs: number): void {
    const now = this.#clock.monotonic();
    const isLimitedForOther = [...health.own].some(
      ([id, { reason, ejectedUntil }]) => id !== organization && reason === "limited" && ejectedUntil > now,
    );
    this.#eject(health, isLimitedForOther ? null : organization, "limited", durationMs);
  }

  /** True when this failure ejects: a probe failed, or enough calls failed in a row without an active ejection. */
  #isEjecting({ failures, ejectedUntil }: State, isProbe: boolean): boolean {
    return isProbe || (failures >= FAILURES_TO_EJECT && this.#clock.monotonic() >= ejectedUntil);
  }

  #eject(
    health: TargetHealth,
    organization: string | null,
    reason: Ejection["reason"],
    durationMs: number,
  ): void {
    const state = organization === null ? health.everyone : this.#ownState(health, organization);
    this.#isOut(health.name, organization, state, reason);
    state.ejectedUntil = this.#clock.monotonic() + durationMs;
    this.#announce({ target: health.name, organization, reason, durationMs });
  }

  #isOut(target: string, organization: string | null, state: State, reason: Ejection["reason"]): void {
    const isNew = state.ejectedAt === 0;
    state.reason = reason;
    state.ejectedAt ||= this.#clock.monotonic();
    if (isNew) this.#onChange({ target, organization, reason, isUp: false, lastedMs: 0 });
  }

  #isBack(target: string, organization: string | null, { ejectedAt, reason }: State): void {
    if (ejectedAt === 0) return;
    const lastedMs = this.#clock.monotonic() - ejectedAt;
    this.#onChange({ target, organization, reason, isUp: true, lastedMs });
  }

  /** Returns the states that decide about a call; an empty list for a target without recent failures. */
  #statesOf(target: Target, organization: string): readonly State[] {
    if (this.#targets.size === 0) return NO_STATES;
    const health = this.#targets.get(targetName(target));
    if (!health) return NO_STATES;
    const own = health.own.get(organization);
    return own ? [health.everyone, own] : [health.everyone];
  }

  #open(name: string): TargetHealth {
    const found = this.#targets.get(name);
    if (found) return found;
    const health: TargetHealth = { name, everyone: newState(), failedFor: new Set(), own: new Map() };
    this.#targets.set(name, health);
    return health;
  }

  #ownState({ own }: TargetHealth, organization: string): State {
    const found = own.get(organization);
    if (found) return found;
    const [oldest] = own.keys();
    if (own.size >= MAX_ORGANIZATIONS && oldest !== undefined) own.delete(oldest);
    const state = newState();
    own.set(organization, state);
    return state;
  }
}

interface TargetHealth {
  name: string;
  everyone: State;
  /** Organizations whose calls have failed since the last success. The set is limited in size. */
  failedFor: Set<string>;
  /** The state of each organization. A state is removed when a call of its organization succeeds. */
  own: Map<string, State>;
}

interface State {
  /** Consecutive failures. */
  failures: number;
  ejections: number;
  /** Monotonic milliseconds until which the target is not called; 0 without an ejection since the last success. */
  ejectedUntil: number;
  /** Monotonic milliseconds of the first ejection since the last success; 0 when there was none. */
  ejectedAt: number;
  /** Monotonic milliseconds at which the running probe began; 0 when no probe is running. */
  probeSince: number;
  reason: Ejection["reason"];
}

const NO_STATES: readonly State[] = [];

function isCallable({ ejectedUntil, probeSince }: State, now: number): boolean {
  return ejectedUntil === 0 || (now >= ejectedUntil && !(probeSince > 0 && now - probeSince < PROBE_MS));
}

function newState(): State {
  return { failures: 0, ejections: 0, ejectedUntil: 0, ejectedAt: 0, probeSince: 0, reason: "overload" };
}

/** Returns the next ejection's duration. It doubles with each ejection until a call succeeds, up to a maximum. */
function nextEjectionMs(state: State): number {
  const durationMs = Math.min(FIRST_EJECTION_MS * 2 ** state.ejections, MAX_EJECTION_MS);
  state.ejections++;
  return durationMs;
}

/** The temporary removal of a target from service, as announced to other processes. */
export interface Ejection {
  /** Name of the target, by `targetName`. */
  target: string;
  /** The organization for which the target is ejected; null for all organizations. */
  organization: string | null;
  reason: "overload" | "account" | "limited";
  durationMs: number;
  /** Milliseconds for which the target has been out of service in this process. */
  lastedMs?: number;
}

/** A change in this process: a target goes out of service or returns to service. */
export type TargetChange = Required<Omit<Ejection, "durationMs">> & { isUp: boolean };
