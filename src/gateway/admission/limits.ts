import type { Principal } from "../../domain/api-key.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { Limits, RateState, RateWindow } from "../../domain/limits.ts";

/** Counts requests, tokens, images and image calls at work; shared between processes or not is the driver's matter. */
export interface Limiter {
  /** Grants every wish or none. Each amount must be a whole number no larger than its limit. Never throws. */
  take(requests: readonly LimitRequest[]): LimitVerdict | Promise<LimitVerdict>;
}

/** `concurrent_images` are places given back when the work ends; everything else is used up for a minute. */
export type LimitQuantity = "requests" | "tokens" | "images" | "concurrent_images";

export interface LimitRequest {
  quantity: LimitQuantity;
  scope: "organization" | "key";
  /** Id of the organization or key. */
  owner: string;
  limit: number;
  /** How much of the limit the request takes; a request takes one place, so 1 for `concurrent_images`. */
  amount: number;
}

export type LimitVerdict =
  | { isAdmitted: true; windows: readonly LimitWindow[]; reservation: LimitReservation }
  | { isAdmitted: false; windows: readonly LimitWindow[]; failed: LimitRequest; retryAfterSeconds: number };

/** What is left of a minute wish's limit, in the order of the wishes; places have none. */
export interface LimitWindow extends RateWindow {
  quantity: LimitQuantity;
}

/** What a driver counted for one request. Neither call waits or throws. */
export interface LimitReservation {
  /** Adds `by`, which may be negative, to what was counted of a quantity. What has left the window stays as it is. */
  correct(quantity: LimitQuantity, by: number): void;
  /** Gives the places back; to be called once. */
  release(): void;
}

/** What an organization and a key have where nothing of their own is set. */
export interface LimitSettings {
  organization: Limits;
  key: Limits;
}

/** What an admitted request was counted with. Both calls may be repeated. */
export interface LimitGrant {
  /** The tighter of organization and key, as of admission; `null` when nothing is limited. */
  readonly rate: RateState | null;
  /** Replaces the estimate by what was used; the last call stands. */
  correctTokens(actual: number): void;
  /** The request has ended: its places are free again. */
  release(): void;
}

/** A place frees when some image call ends, which nobody can foretell; image calls take 10 seconds and longer. */
export const SLOT_RETRY_MS = 5_000;
const MAX_RETRY_SECONDS = 60;

/** Counts a chat, messages or responses request. Throws `rate_limit_exceeded`. */
export function takeTextLimits(
  limiter: Limiter,
  settings: LimitSettings,
  principal: Principal,
  estimatedTokens: number,
): LimitGrant | Promise<LimitGrant> {
  const requests: LimitRequest[] = [];
  const tokens = Math.max(0, Math.ceil(estimatedTokens));
  request(requests, settings, principal, "requests", 1);
  request(requests, settings, principal, "tokens", tokens);
  return take(limiter, requests, tokens);
}

/** Counts a synchronous image call of `count` images. Throws `rate_limit_exceeded`. */
export function takeImageLimits(
  limiter: Limiter,
  settings: LimitSettings,
  principal: Principal,
  count: number,
): LimitGrant | Promise<LimitGrant> {
  const requests: LimitRequest[] = [];
  request(requests, settings, principal, "images", count);
  request(requests, settings, principal, "concurrent_images", 1);
  return take(limiter, requests, 0);
}

/** Whole seconds for `Retry-After`: at least 1, at most 60. */
export function retrySeconds(waitMs: number): number {
  return Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(waitMs / 1000)));
}

const LIMIT_NAMES: Record<LimitQuantity, keyof Limits> = {
  requests: "requestsPerMinute",
  tokens: "tokensPerMinute",
  images: "imagesPerMinute",
  concurrent_images: "concurrentImages",
};

/** Adds what a request wants of its organization and of its key, where that is limited. */
function request(
  requests: LimitRequest[],
  settings: LimitSettings,
  { organization, key }: Principal,
  quantity: LimitQuantity,
  amount: number,
): void {
  const name = LIMIT_NAMES[quantity];
  const ofOrganization = effective(organization.limits[name], settings.organization[name]);
  if (ofOrganization !== null) {
    requests.push({ quantity, scope: "organization", owner: organization.id, limit: ofOrganization, amount });
  }
  const ofKey = effective(key.limits[name], settings.key[name]);
  if (ofKey !== null) requests.push({ quantity, scope: "key", owner: key.id, limit: ofKey, amount });
}

/** An own `null` lifts a configured limit, so `??` would be wrong. */
function effective(own: number | null | undefined, configured: number | null): number | null {
  return own === undefined ? configured : own;
}

function take(
  limiter: Limiter,
  requests: readonly LimitRequest[],
  tokens: number,
): LimitGrant | Promise<LimitGrant> {
  if (requests.length === 0) return UNLIMITED;
  for (const request of requests) if (request.amount > request.limit) throw tooLarge(request);
  const verdict = limiter.take(requests);
  if (verdict instanceof Promise) return verdict.then((verdict) => grant(verdict, tokens));
  return grant(verdict, tokens);
}

const UNLIMITED: LimitGrant = { rate: null, correctTokens() {}, release() {} };

function grant(verdict: LimitVerdict, tokens: number): LimitGrant {
  const rate = rateOf(verdict.windows);
  if (verdict.isAdmitted) return new Grant(rate, verdict.reservation, tokens);
  const { failed, retryAfterSeconds } = verdict;
  const wait = `Retry in ${retryAfterSeconds} ${retryAfterSeconds === 1 ? "second" : "seconds"}.`;
  throw new GatewayError("rate_limit_exceeded", `${nameOf(failed)} is reached. ${wait}`, {
    retryAfterSeconds,
    ...(rate && { rate }),
  });
}

class Grant implements LimitGrant {
  #isReleased = false;

  constructor(
    readonly rate: RateState | null,
    private readonly reservation: LimitReservation,
    private counted: number,
  ) {}

  correctTokens(actual: number): void {
    const by = actual - this.counted;
    if (by === 0) return;
    this.counted = actual;
    this.reservation.correct("tokens", by);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.reservation.release();
  }
}

/** Waiting does not help here, so the official clients are told not to retry. */
function tooLarge(request: LimitRequest): GatewayError {
  const message = `${nameOf(request)} cannot hold this request, which counts ${request.amount}. Send a smaller one.`;
  return new GatewayError("rate_limit_exceeded", message, {
    retryAfterSeconds: MAX_RETRY_SECONDS,
    shouldRetry: false,
  });
}

const UNITS: Record<LimitQuantity, string> = {
  requests: "requests a minute",
  tokens: "tokens a minute",
  images: "images a minute",
  concurrent_images: "image calls at once",
};

function nameOf({ scope, limit, quantity }: LimitRequest): string {
  return `${scope === "key" ? "This key's" : "Your organization's"} limit of ${limit} ${UNITS[quantity]}`;
}

function rateOf(windows: readonly LimitWindow[]): RateState | null {
  let requests: LimitWindow | null = null;
  let tokens: LimitWindow | null = null;
  for (const window of windows) {
    if (window.quantity === "tokens") tokens = tighter(tokens, window);
    else requests = tighter(requests, window);
  }
  return requests || tokens ? { requests, tokens } : null;
}

function tighter(one: LimitWindow | null, other: LimitWindow): LimitWindow {
  return one && one.remaining <= other.remaining ? one : other;
}
