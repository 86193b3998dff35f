import type { z } from "zod";
import type { Nanos } from "../../lib/money.ts";
import type { AdminContext } from "../context.ts";
import type { ErrorSum, SpendingSum, TrafficSum, UsageDimension } from "../usage/store-port.ts";
import type { overviewSchema } from "../usage/schema.ts";
import { shareOf, spendView, spendingOf } from "../usage/totals.ts";

type Top = z.input<typeof overviewSchema>["top"];
/** Dimension by which usage is grouped. */
export type Group = Exclude<UsageDimension, "at">;

const MAX_TOP = 10;

interface Sums {
  byModel: readonly SpendingSum[];
  /** By organization, key and channel. */
  byOthers: readonly SpendingSum[];
  /** By organization, model and channel. */
  traffic: readonly TrafficSum[];
  errors: readonly ErrorSum[];
}

/** The dearest models, keys, organizations and channels of a range. */
export async function topGroups(
  context: AdminContext,
  { byModel, byOthers, traffic, errors }: Sums,
  currency: string,
  whole: Nanos,
): Promise<Top> {
  const top = (by: Group, sums: readonly SpendingSum[]) =>
    topOf(context, { by, sums, traffic, errors, currency, whole });
  const [models, keys, organizations, channels] = await Promise.all([
    top("model", byModel),
    top("keyId", byOthers),
    top("organizationId", byOthers),
    top("channel", byOthers),
  ]);
  return { models, keys, organizations, channels };
}

async function topOf(
  context: AdminContext,
  {
    by,
    sums,
    traffic,
    errors: failed,
    currency,
    whole,
  }: {
    by: Group;
    sums: readonly SpendingSum[];
    traffic: readonly TrafficSum[];
    errors: readonly ErrorSum[];
    currency: string;
    whole: Nanos;
  },
): Promise<Top["models"]> {
  const counts = Map.groupBy(failed, (count) => count[by]);
  const requests = Map.groupBy(traffic, (count) => count[by]);
  const groups = Map.groupBy(sums, (sum) => sum[by]);
  // A group whose requests all failed has no sums.
  for (const id of counts.keys()) if (!groups.has(id) && id !== "") groups.set(id, []);
  const rows = [...groups].map(([id, own]) => {
    const total = spendingOf(own, currency);
    const errors = (counts.get(id) ?? []).reduce((sum, count) => sum + count.errors, 0);
    const came = (requests.get(id) ?? []).reduce((sum, count) => sum + count.requests, 0);
    return {
      id,
      total: { ...total, requests: requestsOf(by === "keyId", total.requests, came, errors) },
      errors,
    };
  });
  const dearest = rows.toSorted(
    (one, other) =>
      Number(other.total.amount - one.total.amount) ||
      other.total.requests - one.total.requests ||
      other.errors - one.errors,
  );
  const top = dearest.slice(0, MAX_TOP);
  const names = await namesOf(
    context,
    by,
    top.map(({ id }) => id),
  );
  const view = ({ id, total, errors }: (typeof rows)[number]): Top["models"][number] => ({
    id,
    name: names.get(id) ?? id,
    ...spendView(total),
    errors,
    share: shareOf(total.amount, whole),
  });
  return top.map(view);
}

/** All requests, also those that failed; traffic has no keys, so that of a key the charged and the failed ones count. */
export function requestsOf(hasKeys: boolean, charged: number, came: number, errors: number): number {
  return hasKeys ? charged + errors : Math.max(charged, came, errors);
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
