import type { Limits, RateWindow } from "../../domain/limits.ts";

/** Counts requests, tokens, images and concurrent image calls, in one process or across several. */
export interface Limiter {
  /** Grants all requests or none. Each amount must be an integer no larger than its limit. Never throws. */
  take(requests: readonly LimitRequest[]): LimitVerdict | Promise<LimitVerdict>;
}

/** `concurrent_images` counts slots until their calls end. Amounts of the other quantities count for a minute. */
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

/**
 * A limit per minute and its remaining amount. A `LimitVerdict` has one window for each `LimitRequest`, in the same
 * order, but none for `concurrent_images`.
 */
export interface LimitWindow extends RateWindow {
  quantity: LimitQuantity;
}

/** The amounts that a `Limiter` has counted for one request. Its methods do not throw. */
export interface LimitReservation {
  /**
   * Adds `by`, which may be negative, to the count of a quantity. Amounts that have left the window do not change.
   * After the first call for a quantity, waiting times no longer assume that more of it is given back (see
   * `openAmount`). Returns a promise when other processes share the count and would learn of the correction too late.
   * The response must not end before this promise resolves.
   */
  correct(quantity: LimitQuantity, by: number): Promise<void> | undefined;
  /** Releases the slots. Call it once. */
  release(): void;
}

/** Default limits, for organizations and keys without limits of their own. */
export interface LimitSettings {
  organization: Limits;
  key: Limits;
}

/** Returns the part of a counted amount that may be given back: all tokens, because their number is an estimate. */
export function openAmount({ quantity, amount }: LimitRequest): number {
  return quantity === "tokens" ? amount : 0;
}

/** `Retry-After` for a slot. The time of the next release is unknown; image calls take 10 seconds or longer. */
export const SLOT_RETRY_MS = 5_000;
const MAX_RETRY_SECONDS = 60;

/** Returns whole seconds for `Retry-After`: at least 1, at most 60. */
export function retrySeconds(waitMs: number): number {
  return Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(waitMs / 1000)));
}

/** Number of time slots that divide a window. */
const SLOTS = 30;
/**
 * Number of time slots in memory: the slots of the window, one slot that leaves the window and one slot that begins.
 */
const CAPACITY = SLOTS + 2;

/**
 * Sums the amounts of the last `windowMs`. An amount counts for the whole window, or up to a thirtieth longer (two
 * seconds of a minute). It never counts for a shorter time. If this sum never exceeds a limit, the amounts in any span
 * of `windowMs` stay within the limit.
 */
export class SlidingWindow {
  /**
   * Three rings with one element for each time slot: the amount added, the part of this amount that may still be given
   * back, and the time of the last addition.
   */
  readonly #amounts = new Float64Array(CAPACITY);
  readonly #open = new Float64Array(CAPACITY);
  readonly #lastAt = new Float64Array(CAPACITY);
  #head = 0;
  #size = 0;
  #total = 0;
  /** Time at which the newest time slot began. */
  #newestBeganAt = 0;
  readonly #windowMs: number;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Returns the sum at `now`, in monotonic milliseconds. `now` must not be earlier than in the previous call. */
  used(now: number): number {
    while (this.#size > 0 && this.#at(this.#lastAt, 0) + this.#windowMs <= now) {
      this.#total -= this.#at(this.#amounts, 0);
      this.#head = (this.#head + 1) % CAPACITY;
      this.#size--;
    }
    return this.#total;
  }

  /** Adds an amount. `open` is the part of the amount that may still be given back. */
  add(now: number, amount: number, open = 0): void {
    this.used(now);
    const isFull = this.#size === CAPACITY;
    if (this.#size === 0 || (now - this.#newestBeganAt >= this.#windowMs / SLOTS && !isFull)) {
      this.#size++;
      this.#newestBeganAt = now;
      this.#amounts[this.#slot(this.#size - 1)] = 0;
      this.#open[this.#slot(this.#size - 1)] = 0;
    }
    const newest = this.#slot(this.#size - 1);
    this.#amounts[newest] = (this.#amounts[newest] ?? 0) + amount;
    this.#open[newest] = (this.#open[newest] ?? 0) + open;
    this.#lastAt[newest] = now;
    this.#total += amount;
  }

  /**
   * Subtracts `by` from the amounts that were added at `addedAt` and still count. `closed` is the part of these amounts
   * that can no longer be given back.
   */
  reduce(now: number, addedAt: number, by: number, closed = 0): void {
    if (addedAt + this.#windowMs <= now) return;
    this.used(now);
    for (let index = 0; index < this.#size; index++) {
      if (this.#at(this.#lastAt, index) < addedAt) continue;
      const reduced = Math.min(by, this.#at(this.#amounts, index));
      this.#amounts[this.#slot(index)] = this.#at(this.#amounts, index) - reduced;
      this.#open[this.#slot(index)] = Math.max(0, this.#at(this.#open, index) - closed);
      this.#total -= reduced;
      return;
    }
  }

  /** Returns the amounts that still count, oldest first. Each pair is an age in milliseconds and an amount. */
  uses(now: number): [ageMs: number, amount: number][] {
    this.used(now);
    return Array.from({ length: this.#size }, (_, index) => [
      now - this.#at(this.#lastAt, index),
      this.#at(this.#amounts, index),
    ]);
  }

  /**
   * Returns the milliseconds until `amount` can be added without exceeding `limit`; 0 when it can be added now. Assumes
   * that open amounts are given back at once, because the actual time is unknown and often short.
   */
  waitMs(now: number, limit: number, amount: number): number {
    let excess = this.used(now) + amount - limit;
    if (excess <= 0) return 0;
    for (let index = 0; index < this.#size; index++) excess -= this.#at(this.#open, index);
    if (excess <= 0) return 1;
    for (let index = 0; index < this.#size; index++) {
      excess -= this.#at(this.#amounts, index) - this.#at(this.#open, index);
      if (excess <= 0) return this.#at(this.#lastAt, index) + this.#windowMs - now;
    }
    return this.#windowMs;
  }

  /** Returns the milliseconds until the sum is 0, if nothing else is added. */
  resetMs(now: number): number {
    return this.used(now) === 0 ? 0 : this.#at(this.#lastAt, this.#size - 1) + this.#windowMs - now;
  }

  #at(ring: Float64Array, index: number): number {
    return ring[this.#slot(index)] ?? 0;
  }

  #slot(index: number): number {
    return (this.#head + index) % CAPACITY;
  }
}

/**
 * Windows by owner, in two maps: young and old. The old map is dropped as a whole when it is older than the length of a
 * window. Unused windows are thus removed without a search.
 */
export class WindowTable {
  #young = new Map<string, SlidingWindow>();
  #old = new Map<string, SlidingWindow>();
  #turnsAt = -Infinity;
  readonly #windowMs: number;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  all(): [owner: string, SlidingWindow][] {
    return [...this.#old, ...this.#young];
  }

  find(owner: string, now: number): SlidingWindow | undefined {
    if (now >= this.#turnsAt) this.#turn(now);
    const young = this.#young.get(owner);
    if (young) return young;
    const old = this.#old.get(owner);
    if (!old) return undefined;
    this.#old.delete(owner);
    this.#young.set(owner, old);
    return old;
  }

  open(owner: string, now: number): SlidingWindow {
    const found = this.find(owner, now);
    if (found) return found;
    const window = new SlidingWindow(this.#windowMs);
    this.#young.set(owner, window);
    return window;
  }

  #turn(now: number): void {
    this.#old = now < this.#turnsAt + this.#windowMs ? this.#young : new Map();
    this.#young = new Map();
    this.#turnsAt = now + this.#windowMs;
  }
}
