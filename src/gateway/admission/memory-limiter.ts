import type { Clock } from "../../lib/clock.ts";
import {
  SLOT_RETRY_MS,
  retrySeconds,
  type LimitCounter,
  type Limiter,
  type LimitQuantity,
  type LimitReservation,
  type LimitVerdict,
  type LimitWindow,
  type LimitRequest,
} from "./limits.ts";
import { SlidingWindow } from "./sliding-window.ts";

export const MINUTE_MS = 60_000;

/** `share` gives the number of processes between which a limit is divided now; 1 for the whole limit. */
interface MemoryLimiterOptions {
  clock: Clock;
  share?: () => number;
  windowMs?: number;
}

/**
 * Counts within this process, by the monotonic clock. A limit holds in every minute, wherever it begins; what was used
 * is available again after a minute, at most two seconds later. Unused counters are dropped.
 *
 * With a `share` each limit is divided by it and rounded down, but never below 1: limits smaller than the number of
 * processes are exceeded rather than closed. A request larger than the share takes all of it.
 */
export class MemoryLimiter implements Limiter {
  readonly #windows: Record<LimitRequest["scope"], Record<LimitQuantity, WindowTable>>;
  readonly #slots = { organization: new Map<string, number>(), key: new Map<string, number>() };
  readonly #clock: Clock;
  readonly #share: () => number;

  constructor({ clock, share = () => 1, windowMs = MINUTE_MS }: MemoryLimiterOptions) {
    this.#clock = clock;
    this.#share = share;
    const tables = () => ({
      requests: new WindowTable(windowMs),
      tokens: new WindowTable(windowMs),
      images: new WindowTable(windowMs),
      concurrent_images: new WindowTable(windowMs),
    });
    this.#windows = { organization: tables(), key: tables() };
  }

  take(requests: readonly LimitRequest[]): LimitVerdict {
    const now = this.#clock.monotonic();
    let failed: LimitRequest | null = null;
    let maxMs = 0;
    for (const request of requests) {
      const waitMs = this.#waitMs(request, now);
      if (waitMs <= maxMs) continue;
      failed = request;
      maxMs = waitMs;
    }
    if (!failed) {
      const reservation = this.#count(requests, now);
      return { isAdmitted: true, windows: this.#states(requests, now), reservation };
    }
    return {
      isAdmitted: false,
      windows: this.#states(requests, now),
      failed,
      retryAfterSeconds: retrySeconds(maxMs),
    };
  }

  /** Counts what was admitted elsewhere, whatever the limits say. */
  record(requests: readonly LimitRequest[]): LimitReservation {
    return this.#count(requests, this.#clock.monotonic());
  }

  /** Adds `by`, which may be negative, to what was counted at `takenAt` (monotonic milliseconds). */
  correct(counter: LimitCounter, takenAt: number, by: number): void {
    const now = this.#clock.monotonic();
    if (by > 0) this.#table(counter).open(counter.owner, now).add(now, by);
    else this.#table(counter).find(counter.owner, now)?.reduce(now, takenAt, -by);
  }

  /** What still counts in every window, oldest first: pairs of age in milliseconds and amount. */
  *uses(): Generator<LimitCounter & { uses: [ageMs: number, amount: number][] }> {
    const now = this.#clock.monotonic();
    for (const scope of ["organization", "key"] as const)
      for (const quantity of ["requests", "tokens", "images"] as const)
        for (const [owner, window] of this.#windows[scope][quantity].all())
          yield { scope, quantity, owner, uses: window.uses(now) };
  }

  /** Counters in memory now. */
  get size(): number {
    const tables = [...Object.values(this.#windows.organization), ...Object.values(this.#windows.key)];
    return tables.reduce(
      (sum, table) => sum + table.size,
      this.#slots.organization.size + this.#slots.key.size,
    );
  }

  #waitMs(request: LimitRequest, now: number): number {
    const limit = this.#limitOf(request);
    const amount = Math.min(request.amount, limit);
    if (request.quantity === "concurrent_images") {
      const taken = this.#slots[request.scope].get(request.owner) ?? 0;
      return taken + amount > limit ? SLOT_RETRY_MS : 0;
    }
    return this.#table(request).find(request.owner, now)?.waitMs(now, limit, amount) ?? 0;
  }

  #count(requests: readonly LimitRequest[], now: number): LimitReservation {
    for (const request of requests) {
      if (request.quantity === "concurrent_images") this.#move(request, 1);
      else this.#table(request).open(request.owner, now).add(now, this.#counted(request, request.amount));
    }
    return new Reservation(this, requests, now);
  }

  /** Gives back the slots of `requests`. */
  release(requests: readonly LimitRequest[]): void {
    for (const request of requests) if (request.quantity === "concurrent_images") this.#move(request, -1);
  }

  /** How much an amount counts here: no more than the share. */
  #counted(request: LimitRequest, amount: number): number {
    return this.#share() === 1 ? amount : Math.min(amount, this.#limitOf(request));
  }

  /** Corrects what was counted at `takenAt` of a quantity that was corrected by `before` already. */
  correctAll(
    requests: readonly LimitRequest[],
    takenAt: number,
    quantity: LimitQuantity,
    { before, after }: { before: number; after: number },
  ): void {
    for (const request of requests) {
      if (request.quantity !== quantity) continue;
      const by =
        this.#counted(request, request.amount + after) - this.#counted(request, request.amount + before);
      this.correct(request, takenAt, by);
    }
  }

  #move({ scope, owner }: LimitRequest, by: 1 | -1): void {
    const taken = (this.#slots[scope].get(owner) ?? 0) + by;
    if (taken > 0) this.#slots[scope].set(owner, taken);
    else this.#slots[scope].delete(owner);
  }

  #states(requests: readonly LimitRequest[], now: number): LimitWindow[] {
    const states: LimitWindow[] = [];
    for (const request of requests) {
      if (request.quantity === "concurrent_images") continue;
      const window = this.#table(request).find(request.owner, now);
      const remaining = Math.max(0, this.#limitOf(request) - (window?.used(now) ?? 0));
      const resetSeconds = Math.ceil((window?.resetMs(now) ?? 0) / 1000);
      states.push({ quantity: request.quantity, limit: request.limit, remaining, resetSeconds });
    }
    return states;
  }

  #table({ scope, quantity }: LimitCounter): WindowTable {
    return this.#windows[scope][quantity];
  }

  #limitOf({ limit }: LimitRequest): number {
    const share = this.#share();
    return share === 1 || limit === 0 ? limit : Math.max(1, Math.floor(limit / share));
  }
}

/** An object without closures: a stream keeps it as long as it runs. */
class Reservation implements LimitReservation {
  readonly #limiter: MemoryLimiter;
  readonly #requests: readonly LimitRequest[];
  readonly #takenAt: number;
  #corrected: Partial<Record<LimitQuantity, number>> | null = null;

  constructor(limiter: MemoryLimiter, requests: readonly LimitRequest[], takenAt: number) {
    this.#limiter = limiter;
    this.#requests = requests;
    this.#takenAt = takenAt;
  }

  correct(quantity: LimitQuantity, by: number): void {
    this.#corrected ??= {};
    const before = this.#corrected[quantity] ?? 0;
    const after = before + by;
    this.#corrected[quantity] = after;
    this.#limiter.correctAll(this.#requests, this.#takenAt, quantity, { before, after });
  }

  release(): void {
    this.#limiter.release(this.#requests);
  }
}

/** Windows by owner in two generations: one that was not used for a whole window is dropped without a search. */
class WindowTable {
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
