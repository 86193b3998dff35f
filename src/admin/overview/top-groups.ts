import type { z } from "zod";
import type { Nanos } from "../../lib/money.ts";
import type { AdminContext } from "../context.ts";
import { countBy, type CountedGroup, groupsOf, namesOf, unchargedOf } from "../usage/groups.ts";
import type { CountSum, SpendingSum } from "../usage/store-port.ts";
import type { overviewSchema } from "../usage/schema.ts";
import { shareOf, spendView, spendingOf } from "../usage/totals.ts";

type Top = z.input<typeof overviewSchema>["top"];

const MAX_TOP = 10;

interface Sums {
  byModel: readonly SpendingSum[];
  /** Sums by organization, key and channel. */
  byOthers: readonly SpendingSum[];
  /** Numbers of requests by organization, key, model and channel. */
  counts: readonly CountSum[];
}

/** Returns the most expensive models, keys, organizations and channels of a range. */
export async function topGroups(
  context: AdminContext,
  { byModel, byOthers, counts }: Sums,
  currency: string,
  whole: Nanos,
): Promise<Top> {
  const errors = counts.filter((sum) => sum.errors > 0);
  const top = async (by: CountedGroup, sums: readonly SpendingSum[]): Promise<Top["models"]> => {
    const nameOf = (sum: CountSum) => sum[by];
    const came = by === "keyId" ? null : countBy(counts, nameOf, ({ requests }) => requests);
    const failed = countBy(errors, nameOf, (sum) => sum.errors);
    const uncharged = countBy(errors, nameOf, unchargedOf);
    const groups = groupsOf({ by, sums, came, failed, uncharged }, (own) => spendingOf(own, currency))
      // Requests that failed before they had a model or a channel belong to no group.
      .filter(({ id, total }) => id !== "" || total.amount !== 0n)
      .slice(0, MAX_TOP);
    const ids = groups.map(({ id }) => id);
    const names = await namesOf(context, by, ids);
    const view = ({ id, total, errors: wrong }: (typeof groups)[number]): Top["models"][number] => ({
      id,
      name: names.get(id) ?? id,
      ...spendView(total),
      errors: wrong,
      share: shareOf(total.amount, whole),
    });
    return groups.map(view);
  };
  const [models, keys, organizations, channels] = await Promise.all([
    top("model", byModel),
    top("keyId", byOthers),
    top("organizationId", byOthers),
    top("channel", byOthers),
  ]);
  return { models, keys, organizations, channels };
}
