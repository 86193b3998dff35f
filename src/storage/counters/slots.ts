import { RENEW } from "./limit-scripts.ts";
import type { Send } from "./redis-link.ts";

/**
 * The concurrency slots that this process holds in shared sets. A slot expires after `slotMs` unless it is renewed, so
 * the slots of a dead process become free by themselves. Slots that were released while the store was unavailable are
 * removed when it is back.
 */
export class ConcurrencySlots {
  readonly #held = new Map<string, readonly string[]>();
  readonly #released = new Map<string, readonly string[]>();
  #count = 0;

  readonly #processId: string;
  readonly #slotMs: number;

  constructor(processId: string, slotMs: number) {
    this.#processId = processId;
    this.#slotMs = slotMs;
  }

  nextName(): string {
    this.#count++;
    return `${this.#processId}:${this.#count}`;
  }

  hold(name: string, keys: readonly string[]): void {
    this.#held.set(name, keys);
  }

  /** Removes a slot from its sets, now or when the store is back. Also works when the slot was not taken. */
  giveBack(name: string, keys: readonly string[], send: Send): void {
    this.#held.delete(name);
    this.#released.set(name, keys);
    Promise.all(keys.map((key) => send("ZREM", [key, name]))).then(
      () => this.#released.delete(name),
      () => {},
    );
  }

  /** Removes released slots and renews slots in use. Rejects when the store does not respond. */
  async renew(send: Send): Promise<void> {
    for (const [name, keys] of this.#released) {
      await Promise.all(keys.map((key) => send("ZREM", [key, name])));
      this.#released.delete(name);
    }
    const keys: string[] = [];
    const names: string[] = [];
    for (const [name, slots] of this.#held) {
      for (const key of slots) {
        keys.push(key);
        names.push(name);
      }
    }
    if (keys.length === 0) return;
    await send("EVALSHA", [RENEW.sha, String(keys.length), ...keys, String(this.#slotMs), ...names]);
  }
}
