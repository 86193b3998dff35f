import type { NamedStore } from "./named-store.ts";

/**
 * Removes what is older than the retention period, a page at a time and a few at once. One that cannot be
 * removed is counted and left for the next sweep; a listing that fails ends the sweep with its error.
 */
export async function sweepBlobs(
  inventory: BlobInventory,
  storedBefore: number,
  signal: AbortSignal,
): Promise<SweepReport> {
  const report: SweepReport = { removed: 0, failed: 0 };
  for await (const page of inventory.pages()) {
    const old = page.filter(({ storedAt }) => storedAt < storedBefore);
    for (let from = 0; from < old.length; from += AT_ONCE) {
      if (signal.aborted) return report;
      const removals = old.slice(from, from + AT_ONCE).map(({ name }) => inventory.remove(name));
      for (const { status } of await Promise.allSettled(removals))
        report[status === "fulfilled" ? "removed" : "failed"] += 1;
    }
    if (signal.aborted) return report;
  }
  return report;
}

/** What a sweep needs of a store. */
type BlobInventory = Pick<NamedStore, "pages" | "remove">;

export interface SweepReport {
  removed: number;
  failed: number;
}

const AT_ONCE = 8;
