import type { Limits, RateWindow } from "../../domain/limits.ts";

/** Counts requests, tokens, images and concurrent image calls, in one process or across several. */
export interface Limiter {
  /** Grants all requests or none. Each amount must be an integer no larger than its limit. Never throws. */
  take(requests: readonly LimitRequest[]): LimitVerdict | Promise<LimitVerdict>;
}

/** `concurrent_images` are slots, released when the call ends; all other quantities count for a minute. */
export type LimitQuantity = "requests" | "tokens" | "images" | "concurrent_images";

/** One counted quantity of one organization or key. */
export interface LimitCounter {
  quantity: LimitQuantity;
  scope: "organization" | "key";
  /** Id of the organization or key. */
  owner: string;
}

export interface LimitRequest extends LimitCounter {
  limit: number;
  /** Amount to count; always 1 for `concurrent_images`. */
  amount: number;
}

export type LimitVerdict =
  | { isAdmitted: true; windows: readonly LimitWindow[]; reservation: LimitReservation }
  | { isAdmitted: false; windows: readonly LimitWindow[]; failed: LimitRequest; retryAfterSeconds: number };

/** The rest of a minute's limit. Windows stand in the order of the requests; slots have none. */
export interface LimitWindow extends RateWindow {
  quantity: LimitQuantity;
}

/** What a driver counted for one request. Its methods do not throw. */
export interface LimitReservation {
  /**
   * Adds `by`, which may be negative, to the count of a quantity. Amounts that have left the window are not changed.
   * From the first call on, the request is treated as one that gives nothing more back. Where other processes share the
   * count and would learn of the correction too late, returns a promise that resolves once they know it; the response
   * must not end before.
   */
  correct(quantity: LimitQuantity, by: number): Promise<void> | undefined;
  /** Releases the slots. Call it once. */
  release(): void;
}

/** The limits of organizations and keys that have none of their own. */
export interface LimitSettings {
  organization: Limits;
  key: Limits;
}

/**
 * Returns how much of a counted amount the request may still give back while it runs: all of its tokens, because they
 * are an estimate.
 */
export function openAmount({ quantity, amount }: LimitRequest): number {
  return quantity === "tokens" ? amount : 0;
}

/** Retry-After for a slot. The time of the next release is unknown; image calls take 10 seconds and longer. */
export const SLOT_RETRY_MS = 5_000;
const MAX_RETRY_SECONDS = 60;

/** Returns whole seconds for `Retry-After`: at least 1, at most 60. */
export function retrySeconds(waitMs: number): number {
  return Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(waitMs / 1000)));
}
