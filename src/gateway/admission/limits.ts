import type { Limits, RateWindow } from "../../domain/limits.ts";

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

/** What a driver counted for one request. Neither method throws. */
export interface LimitReservation {
  /**
   * Adds `by`, which may be negative, to the count of a quantity. What has left the window is not changed. From the
   * first call on, the request no longer counts as one that may give back. Where other processes take from the same
   * count and would otherwise learn of it too late, returns a promise that resolves once they cannot; until then the
   * response must not end.
   */
  correct(quantity: LimitQuantity, by: number): Promise<void> | undefined;
  /** Releases the slots; call once. */
  release(): void;
}

/** The limits of an organization and of a key that have none of their own. */
export interface LimitSettings {
  organization: Limits;
  key: Limits;
}

/** How much of what a request takes it may still give back while it runs: its tokens are an estimate. */
export function openAmount({ quantity, amount }: LimitRequest): number {
  return quantity === "tokens" ? amount : 0;
}

/** Retry-After for a slot. When one is released is unknown; image calls take 10 seconds and longer. */
export const SLOT_RETRY_MS = 5_000;
const MAX_RETRY_SECONDS = 60;

/** Whole seconds for `Retry-After`: at least 1, at most 60. */
export function retrySeconds(waitMs: number): number {
  return Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(waitMs / 1000)));
}
