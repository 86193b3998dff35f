import type { AdminContext } from "../context.ts";
import type { ErrorSum, SpendingSum, TrafficSum, UsageDimension } from "./store-port.ts";
import type { Spending } from "./totals.ts";

/** Dimension by which usage is grouped. */
export type Group = Exclude<UsageDimension, "at">;

interface Grouped<Sum extends SpendingSum> {
  by: Group;
  sums: readonly Sum[];
  /** Requests that came; null where keys are told apart, as traffic names those of failed requests only. */
  came: readonly TrafficSum[] | null;
  failed: readonly ErrorSum[];
}

/** All groups, the dearest first, also those whose requests all failed. `totalOf` adds the sums of one group up. */
export function groupsOf<Sum extends SpendingSum, Total extends Spending>(
  { by, sums, came, failed }: Grouped<Sum>,
  totalOf: (sums: readonly Sum[]) => Total,
): { id: string; total: Total; errors: number }[] {
  const groups = Map.groupBy(sums, (sum) => sum[by]);
  const cameOf = Map.groupBy(came ?? [], (sum) => sum[by]);
  const failedOf = Map.groupBy(failed, (sum) => sum[by]);
  for (const id of [...cameOf.keys(), ...failedOf.keys()]) if (!groups.has(id)) groups.set(id, []);
  return [...groups]
    .map(([id, own]) => {
      const total = totalOf(own);
      const errors = (failedOf.get(id) ?? []).reduce((sum, each) => sum + each.errors, 0);
      const counted = (cameOf.get(id) ?? []).reduce((sum, each) => sum + each.requests, 0);
      const charged = total.requests;
      const requests = came === null ? charged + errors : Math.max(charged, counted, errors);
      return { id, errors, total: { ...total, requests } };
    })
    .toSorted(
      (one, other) =>
        Number(other.total.amount - one.total.amount) ||
        other.total.requests - one.total.requests ||
        other.errors - one.errors,
    );
}

/** Returns the names of keys, organizations, models or channels by id. Ids without a name are left out. */
export async function namesOf(
  { store, catalogue }: AdminContext,
  by: Group,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | undefined>> {
  if (by === "keyId") return await store.keys.names(ids);
  if (by === "channel") return new Map();
  if (by === "model") return new Map(ids.map((id) => [id, catalogue.models.get(id)?.displayName]));
  const organizations = await Promise.all(ids.map((id) => store.organizations.get(id)));
  return new Map(organizations.map((organization, index) => [ids[index] ?? "", organization?.name]));
}
