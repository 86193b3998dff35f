import { nextTurn } from "../../lib/waiting.ts";
import { isRefusal } from "./unavailable.ts";

/** Work that costs little more for many items than for one, such as a transaction for the items of several callers. */
interface BatchedWork<Item, Result> {
  /** Returns the lane of an item. Items of a lane are processed in order; lanes do not wait for each other. */
  laneOf(item: Item): string;
  /**
   * Processes a batch. Returns the results in the order of the items. Stores the changes of the whole batch or none.
   */
  run(items: readonly Item[]): Promise<readonly Result[]>;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Maximum size of a batch. On SQLite, such a batch occupies this thread for a few milliseconds. */
const MAX_ITEMS = 128;

/** Maximum number of turns of the event loop to wait. In a busy process, these turns take a few milliseconds. */
const MAX_TURNS = 8;

/**
 * Waits as long as each turn of the event loop brings another item, because a fuller batch costs less for each item.
 */
async function gathered(waiting: readonly unknown[]): Promise<void> {
  let before = 0;
  for (let turn = 0; turn < MAX_TURNS && waiting.length > before && waiting.length < MAX_ITEMS; turn += 1) {
    before = waiting.length;
    await nextTurn();
  }
}

/**
 * Runs work on batches. A batch contains the items that arrived within a few turns of the event loop or while the
 * previous batch ran. If the database refuses a batch because of its data, each item is tried alone. If the database is
 * unavailable, all items of the batch and all waiting items of its lane fail.
 */
export function inBatches<Item, Result>({
  laneOf,
  run,
}: BatchedWork<Item, Result>): (item: Item) => Promise<Result> {
  const lanes = new Map<string, Waiting<Item, Result>[]>();
  const settle = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [first, ...others] = batch;
      if (others.length === 0) first?.reject(error);
      else for (const one of batch) await settle([one]);
    }
  };
  const serve = async (lane: string, waiting: Waiting<Item, Result>[]): Promise<void> => {
    while (waiting.length > 0) {
      await gathered(waiting);
      const batch = waiting.splice(0, MAX_ITEMS);
      try {
        await settle(batch);
      } catch (error) {
        for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error);
      }
    }
    lanes.delete(lane);
  };
  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const lane = laneOf(item);
    const waiting = lanes.get(lane);
    const entry = { item, resolve, reject };
    if (waiting) waiting.push(entry);
    else {
      const first = [entry];
      lanes.set(lane, first);
      void serve(lane, first);
    }
    return promise;
  };
}
