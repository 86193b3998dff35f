import type { Channel } from "../../domain/channel.ts";
import { FairSemaphore } from "../../lib/semaphore.ts";

/** Longest wait for a slot of a channel. */
const SLOT_WAIT_MS = 5_000;
/** Waiting requests of one organization for one channel; further ones are refused at once. */
const MAX_WAITING = 100;

/**
 * Counts the running calls of this process on each channel with a `max_concurrent`. Organizations take turns when their
 * requests wait for a slot.
 */
export class ConcurrencyLimiter {
  readonly #channels = new Map<string, FairSemaphore>();
  readonly #slotWaitMs: number;

  constructor(slotWaitMs = SLOT_WAIT_MS) {
    this.#slotWaitMs = slotWaitMs;
  }

  hasSlot(channel: Channel, organization: string): boolean {
    return this.#slotsOf(channel)?.hasSlot(organization) ?? true;
  }

  /** Takes a slot of the channel; disposing of the result releases it. Returns null when all are taken. */
  take(channel: Channel, organization: string): Disposable | null {
    const slots = this.#slotsOf(channel);
    return slots ? slots.tryAcquire(organization) : UNLIMITED;
  }

  /**
   * Takes a slot as `take` does, and waits where necessary. Resolves to null when none came in time. Rejects when the
   * signal aborts.
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
    // Calls that began before a reload continue to count.
    slots.resize(maxConcurrent);
    return slots;
  }
}

const UNLIMITED: Disposable = { [Symbol.dispose]() {} };
