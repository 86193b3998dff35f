import type { Clock } from "../../lib/clock.ts";
import {
  type LimitCounter,
  type Limiter,
  type LimitQuantity,
  type LimitRequest,
  type LimitReservation,
  type LimitVerdict,
  type LimitWindow,
  openAmount,
  retrySeconds,
  SLOT_RETRY_MS,
  WindowTable,
} from "./limits.ts";

export const MINUTE_MS = 60_000;

/** `share` returns the number of processes that currently divide each limit; 1 for undivided limits. */
interface MemoryLimiterOptions {
  clock: Clock;
  share?: () => number;
  windowMs?: number;
}

/**
 * Counts within this process, by the monotonic clock. A limit applies to every span of a minute. A used amount is
 * available again after 60 to 62 seconds. Unused counters are dropped. With a `share`, each limit is divided by the
 * number of processes and rounded down, but to at least 1 if it is not 0. A limit below the number of processes may
 * therefore be exceeded. A request larger than this process's part counts as the whole part.
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

  /** Counts requests that another process has admitted. Does not check the limits. */
  record(requests: readonly LimitRequest[]): Reservation {
    return this.#count(requests, this.#clock.monotonic());
  }

  /**
   * Adds `by` to the amount counted at `takenAt` (monotonic milliseconds). A positive `by` counts as an amount of now.
   * `closed` is the part of the amount at `takenAt` that can no longer be given back.
   */
  correct(counter: LimitCounter, takenAt: number, by: number, closed = 0): void {
    const now = this.#clock.monotonic();
    const table = this.#table(counter);
    if (by > 0) table.open(counter.owner, now).add(now, by);
    table.find(counter.owner, now)?.reduce(now, takenAt, Math.max(0, -by), closed);
  }

  /**
   * Yields the amounts that still count in each window, oldest first. Each pair is an age in milliseconds and an
   * amount.
   */
  *uses(): Generator<LimitCounter & { uses: [ageMs: number, amount: number][] }> {
    const now = this.#clock.monotonic();
    for (const scope of ["organization", "key"] as const)
      for (const quantity of ["requests", "tokens", "images"] as const)
        for (const [owner, window] of this.#windows[scope][quantity].all())
          yield { scope, quantity, owner, uses: window.uses(now) };
  }

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

  #count(requests: readonly LimitRequest[], now: number): Reservation {
    const share = this.#share();
    for (const request of requests) {
      if (request.quantity === "concurrent_images") this.#move(request, 1);
      else
        this.#table(request)
          .open(request.owner, now)
          .add(now, counted(request, request.amount, share), counted(request, openAmount(request), share));
    }
    return new Reservation(this, requests, now, share);
  }

  /** Gives back the slots of `requests`. */
  release(requests: readonly LimitRequest[]): void {
    for (const request of requests) if (request.quantity === "concurrent_images") this.#move(request, -1);
  }

  /**
   * Corrects the amount that a reservation counted of a quantity. `before` is the sum of the earlier corrections; null
   * when there were none. `after` is the new sum.
   */
  correctAll(
    { requests, takenAt, share }: Reservation,
    quantity: LimitQuantity,
    { before, after }: { before: number | null; after: number },
  ): void {
    for (const request of requests) {
      if (request.quantity !== quantity) continue;
      const then = counted(request, request.amount + (before ?? 0), share);
      const closed = before === null ? counted(request, openAmount(request), share) : 0;
      this.correct(request, takenAt, counted(request, request.amount + after, share) - then, closed);
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

  #limitOf(request: LimitRequest): number {
    return limitIn(request, this.#share());
  }
}

function limitIn({ limit }: LimitRequest, share: number): number {
  return share === 1 || limit === 0 ? limit : Math.max(1, Math.floor(limit / share));
}

/** Returns the amount to count. When several processes divide the limit, it is at most this process's part. */
function counted(request: LimitRequest, amount: number, share: number): number {
  return share === 1 ? amount : Math.min(amount, limitIn(request, share));
}

/** A class, because a stream keeps its reservation for as long as it runs, and closures would take more memory. */
class Reservation implements LimitReservation {
  readonly #limiter: MemoryLimiter;
  readonly requests: readonly LimitRequest[];
  /** Monotonic milliseconds. */
  readonly takenAt: number;
  /** Number of processes among which the limits were divided at the time of counting. */
  readonly share: number;
  #corrected: Partial<Record<LimitQuantity, number>> | null = null;

  constructor(limiter: MemoryLimiter, requests: readonly LimitRequest[], takenAt: number, share: number) {
    this.#limiter = limiter;
    this.requests = requests;
    this.takenAt = takenAt;
    this.share = share;
  }

  correct(quantity: LimitQuantity, by: number): undefined {
    this.#corrected ??= {};
    const before = this.#corrected[quantity] ?? null;
    const after = (before ?? 0) + by;
    this.#corrected[quantity] = after;
    this.#limiter.correctAll(this, quantity, { before, after });
  }

  release(): void {
    this.#limiter.release(this.requests);
  }
}
