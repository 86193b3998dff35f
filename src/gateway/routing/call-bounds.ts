import type { Channel } from "../../domain/channel.ts";
import type { Clock } from "../../lib/clock.ts";
import { FairSemaphore } from "../../lib/semaphore.ts";

/** Maximum time that a request waits for a slot of a channel. */
const SLOT_WAIT_MS = 5_000;
/** Maximum number of requests of one organization that wait for one channel. Further requests are refused at once. */
const MAX_WAITING = 100;

/**
 * Limits the running calls of this process on each channel with a `max_concurrent`. When requests of several
 * organizations wait for a slot, the organizations take turns.
 */
export class ConcurrencyLimiter {
  readonly #channels = new Map<string, FairSemaphore>();
  readonly #slotWaitMs: number;

  constructor(slotWaitMs = SLOT_WAIT_MS) {
    this.#slotWaitMs = slotWaitMs;
  }

  /**
   * Yields the number of running calls and the maximum of each channel. Leaves out channels without a maximum, and
   * channels that no request has considered.
   */
  *use(): Generator<{ channel: string; running: number; max: number }> {
    for (const [channel, semaphore] of this.#channels) {
      const { taken, slots } = semaphore.use;
      yield { channel, running: taken, max: slots };
    }
  }

  hasSlot(channel: Channel, organization: string): boolean {
    return this.#slotsOf(channel)?.hasSlot(organization) ?? true;
  }

  /** Takes a slot of the channel. Disposing of the result releases the slot. Returns null when no slot is free. */
  take(channel: Channel, organization: string): Disposable | null {
    const slots = this.#slotsOf(channel);
    return slots ? slots.tryAcquire(organization) : UNLIMITED;
  }

  /**
   * Takes a slot, or waits for one. Resolves to null when none becomes free in time or too many requests wait. Rejects
   * when the signal aborts.
   */
  async wait(channel: Channel, organization: string, signal: AbortSignal): Promise<Disposable | null> {
    const slots = this.#slotsOf(channel);
    if (!slots) return UNLIMITED;
    if (slots.waiting(organization) >= MAX_WAITING) return null;
    const late = AbortSignal.timeout(this.#slotWaitMs);
    try {
      return await slots.acquire(organization, AbortSignal.any([signal, late]));
    } catch (error) {
      if (signal.aborted || !late.aborted) throw error;
      return null;
    }
  }

  #slotsOf({ id, maxConcurrent }: Channel): FairSemaphore | undefined {
    if (maxConcurrent === undefined) return undefined;
    const slots = this.#channels.get(id) ?? new FairSemaphore(maxConcurrent);
    this.#channels.set(id, slots);
    // Calls that began before a reload are still counted.
    slots.resize(maxConcurrent);
    return slots;
  }
}

const UNLIMITED: Disposable = { [Symbol.dispose]() {} };

const WINDOW_MS = 10_000;

/**
 * Limits how often a failing target is called again, so that retries do not add to its load. Within ten seconds, each
 * target may get `ratio` × (number of first calls) + `floor` repeated calls.
 */
export class RetryBudget {
  readonly #clock: Clock;
  readonly #ratio: number;
  readonly #floor: number;
  readonly #counts = new Map<string, Counts>();

  constructor(clock: Clock, ratio: number, floor: number) {
    this.#clock = clock;
    this.#ratio = ratio;
    this.#floor = floor;
  }

  /** Counts a request's first call to a target. `now` is in monotonic milliseconds. */
  countCall(target: string, now: number): void {
    this.#current(target, now).calls++;
  }

  /** Counts one repeated call. Returns false when the target may get no more repeated calls. */
  takeRetry(target: string): boolean {
    const counts = this.#current(target, this.#clock.monotonic());
    const max = this.#ratio * (counts.calls + counts.earlierCalls) + this.#floor;
    if (counts.retries + counts.earlierRetries + 1 > max) return false;
    counts.retries++;
    return true;
  }

  /** Returns the target's counts for the two halves of the window. The older half is dropped when a new half begins. */
  #current(target: string, now: number): Counts {
    const found = this.#counts.get(target);
    if (found && now - found.startedAt < WINDOW_MS / 2) return found;
    const isNext = found !== undefined && now - found.startedAt < WINDOW_MS;
    const counts = {
      startedAt: now,
      calls: 0,
      retries: 0,
      earlierCalls: isNext ? found.calls : 0,
      earlierRetries: isNext ? found.retries : 0,
    };
    this.#counts.set(target, counts);
    return counts;
  }
}

interface Counts {
  /** Monotonic milliseconds. */
  startedAt: number;
  calls: number;
  retries: number;
  earlierCalls: number;
  earlierRetries: number;
}
