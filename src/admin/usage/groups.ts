import type { AdminContext } from "../context.ts";
import type { CountSum, SpendingSum, TrafficDimension, UsageDimension } from "./store-port.ts";
import type { Spending } from "./totals.ts";

/** A dimension by which usage is grouped. */
export type Group = Exclude<UsageDimension, "at">;

/** Dimensions that the sums of traffic have as well. */
export type CountedGroup = Extract<Group, TrafficDimension>;

/** Number of requests by the id of a group. */
type Counts = ReadonlyMap<string, number>;
export const NO_COUNTS: Counts = new Map();

interface Grouped<Sum extends SpendingSum> {
  by: Group;
  sums: readonly Sum[];
  /**
   * Number of requests of each group. Null when the sums of traffic lack this number: they name keys only for failed
   * requests, and never a member or client.
   */
  came: Counts | null;
  failed: Counts;
  /** Failed requests that are not in the ledger, and therefore not in the sums. */
  uncharged: Counts;
}

/** Returns all groups, largest amount first, also those with only failed requests. `totalOf` adds up one group. */
export function groupsOf<Sum extends SpendingSum, Total extends Spending>(
  { by, sums, came, failed, uncharged }: Grouped<Sum>,
  totalOf: (sums: readonly Sum[]) => Total,
): { id: string; total: Total; errors: number }[] {
  const groups = Map.groupBy(sums, (sum) => sum[by]);
  for (const id of [...(came?.keys() ?? []), ...failed.keys()]) if (!groups.has(id)) groups.set(id, []);
  return [...groups]
    .map(([id, own]) => {
      const total = totalOf(own);
      const errors = failed.get(id) ?? 0;
      const charged = total.requests;
      const requests =
        came === null ? charged + (uncharged.get(id) ?? 0) : Math.max(charged, came.get(id) ?? 0, errors);
      return { id, errors, total: { ...total, requests } };
    })
    .toSorted(
      (one, other) =>
        Number(other.total.amount - one.total.amount) ||
        other.total.requests - one.total.requests ||
        other.errors - one.errors,
    );
}

/** Returns the number of failed requests that are not in the ledger. */
export function unchargedOf({ errors, charged }: CountSum): number {
  return errors - charged;
}

/** Returns the total of `count` for each group. `nameOf` returns the group of a sum. */
export function countBy<Sum>(
  sums: readonly Sum[],
  nameOf: (sum: Sum) => string,
  count: (sum: Sum) => number,
): Counts {
  const counts = new Map<string, number>();
  for (const sum of sums) counts.set(nameOf(sum), (counts.get(nameOf(sum)) ?? 0) + count(sum));
  return counts;
}

/** Returns the names of keys, organizations, models or members by id. Channels and clients have no names. */
export async function namesOf(
  { store, catalogue }: AdminContext,
  by: Group,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | undefined>> {
  if (by === "keyId") return await store.keys.names(ids);
  if (by === "channel" || by === "client") return new Map();
  if (by === "source") return new Map(ids.map((id) => [id, id.replace(/^playground\//, "")]));
  if (by === "model") return new Map(ids.map((id) => [id, catalogue.models.get(id)?.displayName]));
  const organizations = await Promise.all(ids.map((id) => store.organizations.get(id)));
  return new Map(organizations.map((organization, index) => [ids[index] ?? "", organization?.name]));
}
