import type { Principal } from "../../domain/api-key.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { Limits, RateState, RateWindow } from "../../domain/limits.ts";

/** Counts requests, tokens, images and running image calls, in one process or in several together. */
export interface Limiter {
  /** Grants all requests or none. Each amount must be an integer no larger than its limit. Never throws. */
  take(requests: readonly LimitRequest[]): LimitVerdict | Promise<LimitVerdict>;
}

/** `concurrent_images` are slots, released when the call ends; everything else counts for a minute. */
export type LimitQuantity = "requests" | "tokens" | "images" | "concurrent_images";

/** What is counted: one quantity of one organization or key. */
export interface LimitCounter {
  quantity: LimitQuantity;
  scope: "organization" | "key";
  /** Id of the organization or key. */
  owner: string;
}

export interface LimitRequest extends LimitCounter {
  limit: number;
  /** How much of the limit it takes; always 1 for `concurrent_images`. */
  amount: number;
}

export type LimitVerdict =
  | { isAdmitted: true; windows: readonly LimitWindow[]; reservation: LimitReservation }
  | { isAdmitted: false; windows: readonly LimitWindow[]; failed: LimitRequest; retryAfterSeconds: number };

/** What is left of a minute's limit, in the order of the requests; slots have none. */
export interface LimitWindow extends RateWindow {
  quantity: LimitQuantity;
}

/** What a driver counted for one request. Neither method waits or throws. */
export interface LimitReservation {
  /** Adds `by`, which may be negative, to the count of a quantity. What has left the window is not changed. */
  correct(quantity: LimitQuantity, by: number): void;
  /** Releases the slots; call once. */
  release(): void;
}

/** The limits of an organization and of a key that have none of their own. */
export interface LimitSettings {
  organization: Limits;
  key: Limits;
}

/** What an admitted request was counted as. Both methods may be called again. */
export interface LimitGrant {
  /** The tighter of organization and key, as of admission; `null` when nothing is limited. */
  readonly rate: RateState | null;
  /** Replaces the estimate by what was used; the last call counts. */
  correctTokens(actual: number): void;
  /** Call when the request has ended: releases its slots. */
  release(): void;
}

/** Retry-After for a slot. When one is released is unknown; image calls take 10 seconds and longer. */
export const SLOT_RETRY_MS = 5_000;
const MAX_RETRY_SECONDS = 60;

/** Counts a text request. Throws `rate_limit_exceeded`, or `invalid_parameter` when it can never be admitted. */
export function takeTextLimits(
  limiter: Limiter,
  settings: LimitSettings,
  principal: Principal,
  estimatedTokens: number,
): LimitGrant | Promise<LimitGrant> {
  const requests: LimitRequest[] = [];
  const tokens = Math.max(0, Math.ceil(estimatedTokens));
  addRequests(requests, settings, principal, "requests", 1);
  addRequests(requests, settings, principal, "tokens", tokens);
  return take(limiter, requests, tokens);
}

/** Counts a synchronous image call of `count` images. Throws as `takeTextLimits` does. */
export function takeImageLimits(
  limiter: Limiter,
  settings: LimitSettings,
  principal: Principal,
  count: number,
): LimitGrant | Promise<LimitGrant> {
  const requests: LimitRequest[] = [];
  addRequests(requests, settings, principal, "images", count);
  addRequests(requests, settings, principal, "concurrent_images", 1);
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

/** Adds what a request takes of its organization's and of its key's limit, where there is one. */
function addRequests(
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
  for (const request of requests) if (request.amount > request.limit) throw neverAdmitted(request);
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

  readonly #reservation: LimitReservation;
  #countedTokens: number;

  constructor(
    readonly rate: RateState | null,
    reservation: LimitReservation,
    countedTokens: number,
  ) {
    this.#reservation = reservation;
    this.#countedTokens = countedTokens;
  }

  correctTokens(actual: number): void {
    const by = actual - this.#countedTokens;
    if (by === 0) return;
    this.#countedTokens = actual;
    this.#reservation.correct("tokens", by);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#reservation.release();
  }
}

/** Retrying never helps here. The official clients retry a 429, but never a 400. */
function neverAdmitted(request: LimitRequest): GatewayError {
  const { quantity, limit, amount } = request;
  if (limit === 0) {
    return new GatewayError("rate_limit_exceeded", `${nameOf(request)} admits nothing.`, {
      shouldRetry: false,
    });
  }
  const message = `${nameOf(request)} is less than this request counts, which is ${amount}. Send a smaller request.`;
  return new GatewayError("invalid_parameter", message, { param: PARAMETERS[quantity] });
}

/** The parameter that makes a request smaller. */
const PARAMETERS: Record<LimitQuantity, string> = {
  requests: "model",
  tokens: "max_tokens",
  images: "n",
  concurrent_images: "n",
};

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
