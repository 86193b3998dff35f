import type { Clock } from "../../lib/clock.ts";
import {
  PLACE_RETRY_MS,
  retrySeconds,
  type Limiter,
  type LimitQuantity,
  type LimitTicket,
  type LimitVerdict,
  type LimitWindow,
  type LimitWish,
} from "./limits.ts";
import { SlidingWindow } from "./sliding-window.ts";

export const MINUTE_MS = 60_000;

/** `share` is the number of processes a limit is divided between, 1 for the whole of it. */
export interface MemoryLimiterOptions {
  clock: Clock;
  share?: number;
  windowMs?: number;
}

/**
 * Counts within this process, on the monotonic clock only. A limit is kept in every minute wherever it begins;
 * what was used may be free up to two seconds later than a minute after. Counters nobody uses are dropped.
 *
 * With a `share` each limit is divided by it and rounded down, but never below 1, so that limits smaller than the
 * number of processes are exceeded rather than closed; a request larger than the share takes all of it.
 */
export class MemoryLimiter implements Limiter {
  readonly #windows: Record<LimitWish["scope"], Record<LimitQuantity, WindowTable>>;
  readonly #places = { organization: new Map<string, number>(), key: new Map<string, number>() };
  readonly #clock: Clock;
  readonly #share: number;

  constructor({ clock, share = 1, windowMs = MINUTE_MS }: MemoryLimiterOptions) {
    this.#clock = clock;
    this.#share = Math.max(1, share);
    const tables = () => ({
      requests: new WindowTable(windowMs),
      tokens: new WindowTable(windowMs),
      images: new WindowTable(windowMs),
      concurrent_images: new WindowTable(windowMs),
    });
    this.#windows = { organization: tables(), key: tables() };
  }

  take(wishes: readonly LimitWish[]): LimitVerdict {
    const now = this.#clock.monotonic();
    let failed: LimitWish | null = null;
    let longestMs = 0;
    for (const wish of wishes) {
      const waitMs = this.#waitMs(wish, now);
      if (waitMs <= longestMs) continue;
      failed = wish;
      longestMs = waitMs;
    }
    if (!failed) {
      const ticket = this.#count(wishes, now);
      return { isAdmitted: true, windows: this.#states(wishes, now), ticket };
    }
    return {
      isAdmitted: false,
      windows: this.#states(wishes, now),
      failed,
      retryAfterSeconds: retrySeconds(longestMs),
    };
  }

  /** Counts what was admitted elsewhere, whatever the limits say. */
  record(wishes: readonly LimitWish[]): LimitTicket {
    return this.#count(wishes, this.#clock.monotonic());
  }

  /** Counters in memory now. */
  get size(): number {
    const tables = [...Object.values(this.#windows.organization), ...Object.values(this.#windows.key)];
    return tables.reduce(
      (sum, table) => sum + table.size,
      this.#places.organization.size + this.#places.key.size,
    );
  }

  #waitMs(wish: LimitWish, now: number): number {
    const limit = this.#limitOf(wish);
    const amount = Math.min(wish.amount, limit);
    if (wish.quantity === "concurrent_images") {
      const taken = this.#places[wish.scope].get(wish.owner) ?? 0;
      return taken + amount > limit ? PLACE_RETRY_MS : 0;
    }
    return this.#table(wish).find(wish.owner, now)?.waitMs(now, limit, amount) ?? 0;
  }

  #count(wishes: readonly LimitWish[], now: number): LimitTicket {
    for (const wish of wishes) {
      if (wish.quantity === "concurrent_images") this.#move(wish, 1);
      else this.#table(wish).open(wish.owner, now).add(now, this.#counted(wish, wish.amount));
    }
    const corrected: Partial<Record<LimitQuantity, number>> = {};
    return {
      correct: (quantity, by) => {
        const before = corrected[quantity] ?? 0;
        corrected[quantity] = before + by;
        this.#correct(wishes, now, quantity, { before, after: before + by });
      },
      release: () => {
        for (const wish of wishes) if (wish.quantity === "concurrent_images") this.#move(wish, -1);
      },
    };
  }

  /** What a request that takes so much counts here: no more than the share, which it then has taken whole. */
  #counted(wish: LimitWish, amount: number): number {
    return this.#share === 1 ? amount : Math.min(amount, this.#limitOf(wish));
  }

  #correct(
    wishes: readonly LimitWish[],
    takenAt: number,
    quantity: LimitQuantity,
    { before, after }: { before: number; after: number },
  ): void {
    const now = this.#clock.monotonic();
    for (const wish of wishes) {
      if (wish.quantity !== quantity) continue;
      const by = this.#counted(wish, wish.amount + after) - this.#counted(wish, wish.amount + before);
      if (by > 0) this.#table(wish).open(wish.owner, now).add(now, by);
      else this.#table(wish).find(wish.owner, now)?.reduce(now, takenAt, -by);
    }
  }

  #move({ scope, owner }: LimitWish, by: 1 | -1): void {
    const taken = (this.#places[scope].get(owner) ?? 0) + by;
    if (taken > 0) this.#places[scope].set(owner, taken);
    else this.#places[scope].delete(owner);
  }

  #states(wishes: readonly LimitWish[], now: number): LimitWindow[] {
    const states: LimitWindow[] = [];
    for (const wish of wishes) {
      if (wish.quantity === "concurrent_images") continue;
      const window = this.#table(wish).find(wish.owner, now);
      const remaining = Math.max(0, this.#limitOf(wish) - (window?.used(now) ?? 0));
      const resetSeconds = Math.ceil((window?.resetMs(now) ?? 0) / 1000);
      states.push({ quantity: wish.quantity, limit: wish.limit, remaining, resetSeconds });
    }
    return states;
  }

  #table({ scope, quantity }: LimitWish): WindowTable {
    return this.#windows[scope][quantity];
  }

  #limitOf({ limit }: LimitWish): number {
    return this.#share === 1 || limit === 0 ? limit : Math.max(1, Math.floor(limit / this.#share));
  }
}

/** Windows by owner in two generations: one that nobody touched for a whole window falls out without a search. */
class WindowTable {
  #young = new Map<string, SlidingWindow>();
  #old = new Map<string, SlidingWindow>();
  #turnsAt = -Infinity;

  constructor(private readonly windowMs: number) {}

  get size(): number {
    return this.#young.size + this.#old.size;
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
    const window = new SlidingWindow(this.windowMs);
    this.#young.set(owner, window);
    return window;
  }

  #turn(now: number): void {
    this.#old = now < this.#turnsAt + this.windowMs ? this.#young : new Map();
    this.#young = new Map();
    this.#turnsAt = now + this.windowMs;
  }
}
