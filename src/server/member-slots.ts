import { AdminError } from "../admin/admin-error.ts";
import type { OperatorMessage } from "../domain/operator-message.ts";

/**
 * Limits how many long responses run at the same time in this process: for each member, and for all members together.
 */
export class MemberSlots {
  readonly #max: { ofMember: number; ofAll: number };
  readonly #message: string | OperatorMessage;
  readonly #taken = new Map<string, number>();

  constructor(max: { ofMember: number; ofAll: number }, message: string | OperatorMessage) {
    this.#max = max;
    this.#message = message;
  }

  /**
   * Takes a slot. Returns the function that releases it; only the first call of this function has an effect. Throws an
   * `AdminError` 429 when no slot is free.
   */
  take(memberId: string): () => void {
    const own = this.#taken.get(memberId) ?? 0;
    const all = this.#taken.values().reduce((sum, count) => sum + count, 0);
    if (own >= this.#max.ofMember || all >= this.#max.ofAll) throw new AdminError(429, null, this.#message);
    this.#taken.set(memberId, own + 1);
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      const left = (this.#taken.get(memberId) ?? 1) - 1;
      if (left > 0) this.#taken.set(memberId, left);
      else this.#taken.delete(memberId);
    };
  }
}
