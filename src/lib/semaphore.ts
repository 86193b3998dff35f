import { untilAborted } from "./waiting.ts";

/** Limits how many callers run at the same time. Waiting callers get slots in the order of arrival. */
export interface Semaphore {
  /** Waits for a slot. Disposing of the result releases the slot. Rejects with the signal's reason after an abort. */
  acquire(signal?: AbortSignal): Promise<Disposable>;
}

/** Makes a semaphore with `slots` slots, at least one. */
export function createSemaphore(slots: number): Semaphore {
  return new FairSemaphore(slots).of("");
}

/**
 * A semaphore that tenants share. Waiting tenants get released slots in turns (round robin): each waiting tenant gets
 * one slot before any tenant gets a second. The callers of one tenant get slots in the order of arrival.
 */
export class FairSemaphore {
  #slots: number;
  #slotsPerTenant: number;
  #taken = 0;
  /** Tenants that have a slot or wait for one. A tenant that gets a slot moves to the end. */
  readonly #tenants = new Map<string, Tenant>();

  /** `slotsPerTenant` is the maximum for one tenant, even when no other tenant waits. */
  constructor(slots: number, slotsPerTenant: number = slots) {
    if (!isCount(slots) || !isCount(slotsPerTenant))
      throw new RangeError("a semaphore needs at least one slot");
    this.#slots = slots;
    this.#slotsPerTenant = slotsPerTenant;
  }

  /** Changes the number of slots, and the maximum for one tenant to the same number. Slots already taken stay taken. */
  resize(slots: number): void {
    if (slots === this.#slots) return;
    this.#slots = slots;
    this.#slotsPerTenant = slots;
    this.#giveToWaiting();
  }

  /** Returns this semaphore as the `Semaphore` of one tenant. */
  of(tenant: string): Semaphore {
    return { acquire: (signal) => this.acquire(tenant, signal) };
  }

  /** Number of slots, and how many of them are taken. */
  get use(): { slots: number; taken: number } {
    return { slots: this.#slots, taken: this.#taken };
  }

  /** True when `tryAcquire` would return a slot. */
  hasSlot(tenant: string): boolean {
    const { taken = 0 } = this.#tenants.get(tenant) ?? {};
    return this.#taken < this.#slots && taken < this.#slotsPerTenant;
  }

  /** Returns the number of the tenant's callers that wait. */
  waiting(tenant: string): number {
    return this.#tenants.get(tenant)?.waiting.size ?? 0;
  }

  /** Takes a slot. Disposing of the result releases the slot. Returns null when no slot is free for the tenant. */
  tryAcquire(tenant: string): Disposable | null {
    return this.hasSlot(tenant) ? this.#take(tenant) : null;
  }

  /** Waits for a slot. Disposing of the result releases the slot. Rejects with the signal's reason after an abort. */
  async acquire(tenant: string, signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    const available = this.tryAcquire(tenant);
    if (available) return available;
    const { promise, resolve } = Promise.withResolvers<Disposable>();
    const { waiting } = this.#tenant(tenant);
    waiting.add(resolve);
    try {
      return await (signal ? untilAborted(promise, signal) : promise);
    } catch (error) {
      // If the caller got its slot in the same turn as the abort, the slot is released.
      if (!waiting.delete(resolve)) (await promise)[Symbol.dispose]();
      this.#forgetIdle(tenant);
      throw error;
    }
  }

  #take(name: string): Disposable {
    const tenant = this.#tenant(name);
    this.#tenants.delete(name);
    this.#tenants.set(name, tenant);
    tenant.taken += 1;
    this.#taken += 1;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        tenant.taken -= 1;
        this.#taken -= 1;
        this.#giveToWaiting();
        this.#forgetIdle(name);
      },
    };
  }

  #giveToWaiting(): void {
    while (this.#taken < this.#slots) {
      const next = this.#nextWaiting();
      if (!next) return;
      const [name, { waiting }] = next;
      const [resolve] = waiting;
      if (!resolve) return;
      waiting.delete(resolve);
      resolve(this.#take(name));
    }
  }

  #nextWaiting(): [string, Tenant] | undefined {
    for (const entry of this.#tenants) {
      const [, { taken, waiting }] = entry;
      if (waiting.size > 0 && taken < this.#slotsPerTenant) return entry;
    }
    return undefined;
  }

  #tenant(name: string): Tenant {
    const known = this.#tenants.get(name);
    if (known) return known;
    const tenant = { taken: 0, waiting: new Set<(slot: Disposable) => void>() };
    this.#tenants.set(name, tenant);
    return tenant;
  }

  #forgetIdle(name: string): void {
    const tenant = this.#tenants.get(name);
    if (tenant && tenant.taken === 0 && tenant.waiting.size === 0) this.#tenants.delete(name);
  }
}

interface Tenant {
  taken: number;
  waiting: Set<(slot: Disposable) => void>;
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}
