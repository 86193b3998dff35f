import type { Nanos } from "../../lib/money.ts";

/**
 * Runs requests to the store about one budget one after another, so that the first may acquire for those behind it.
 * Different budgets do not wait for each other.
 */
export class KeyedMutex {
  readonly #queues = new Map<string, Queue>();

  /** Runs the work when its turn comes. `waiting` returns the amount that the requests behind it need. */
  async run<Result>(
    budget: string,
    amount: Nanos,
    work: (waiting: () => Nanos) => Promise<Result>,
  ): Promise<Result> {
    const queue = this.#queues.get(budget) ?? { last: Promise.resolve(), waiting: 0n, length: 0 };
    this.#queues.set(budget, queue);
    const before = queue.last;
    const { promise, resolve: leave } = Promise.withResolvers<void>();
    queue.last = promise;
    queue.length += 1;
    queue.waiting += amount;
    await before;
    queue.waiting -= amount;
    try {
      return await work(() => queue.waiting);
    } finally {
      queue.length -= 1;
      if (queue.length === 0) this.#queues.delete(budget);
      leave();
    }
  }
}

interface Queue {
  /** Resolves when the work of the last request is done; never rejects. */
  last: Promise<void>;
  waiting: Nanos;
  length: number;
}
