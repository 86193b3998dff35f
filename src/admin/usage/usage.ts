import { z } from "zod";
import type { Nanos } from "../../lib/money.ts";
import type { AdminContext } from "../context.ts";
import { queryTimeSchema } from "../input.ts";
import { getKey } from "../keys/keys.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { isoTime } from "../output.ts";
import {
  countBy,
  type CountedGroup,
  type Group,
  groupsOf,
  namesOf,
  NO_COUNTS,
  unchargedOf,
} from "./groups.ts";
import { chooseCurrency, previousOf, readSeries, type Series } from "./range.ts";
import type { CountSum, SpendingSum, UsageRange, UsageSum } from "./store-port.ts";
import { intervalSchema, type usageSchema, zoneSchema } from "./schema.ts";
import { shareOf, spendingOf, spendView, type Total, totalOf, usageView } from "./totals.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Default number of groups in a reading, the largest amounts first. `MAX_GROUPS` is the maximum. */
const DEFAULT_GROUPS = 100;
export const MAX_GROUPS = 10_000;
/** Number of groups for which sums over time are returned. */
const MAX_WITH_POINTS = 20;

const usageFilterSchema = z.strictObject({
  from: queryTimeSchema.optional().describe("By default 30 days before `to`"),
  to: queryTimeSchema.optional().describe("Exclusive; now by default"),
  organizationId: z.string().optional(),
  keyId: z.string().optional(),
  model: z.string().optional(),
  channel: z.string().optional(),
  interval: intervalSchema.optional().describe("By default the finest that stays readable"),
  zone: zoneSchema,
});

export const usageInputSchema = usageFilterSchema.extend({
  groupBy: z.enum(["model", "key", "organization", "channel", "member", "client"]).default("model"),
  currency: z.string().optional().describe("By default the one of most requests"),
  limit: z.coerce.number().int().min(1).max(MAX_GROUPS).optional().describe(`${DEFAULT_GROUPS} by default`),
});

/**
 * `by` is the dimension of the sums. `counted` is the dimension of the traffic; null when traffic lacks it. `filter` is
 * the field of the range that selects a group.
 */
const GROUPS: Record<
  z.output<typeof usageInputSchema>["groupBy"],
  { by: Group; counted: CountedGroup | null; filter: keyof UsageRange }
> = {
  model: { by: "model", counted: "model", filter: "models" },
  key: { by: "keyId", counted: "keyId", filter: "keys" },
  organization: { by: "organizationId", counted: "organizationId", filter: "organizations" },
  channel: { by: "channel", counted: "channel", filter: "channels" },
  member: { by: "source", counted: null, filter: "sources" },
  client: { by: "client", counted: null, filter: "clients" },
};

/** Returns the usage of a range: in total, over time, and by group. */
export async function readUsage(
  context: AdminContext,
  input: z.output<typeof usageInputSchema>,
): Promise<z.input<typeof usageSchema>> {
  const { groupBy, currency: wanted, limit = DEFAULT_GROUPS, ...filter } = input;
  const { by, counted, filter: some } = GROUPS[groupBy];
  const { series, range, otherwise } = await usageRange(context, filter, by);
  const { usage } = context.store;
  const [sums, sumsOfGroups, sumsBefore, counts] = await Promise.all([
    usage.sums(range, ["at"]),
    usage.sums(range, [by]),
    usage.spending({ ...range, ...previousOf(series) }, [by]),
    countRequests(context, range, counted),
  ]);
  const { currency, currencies } = chooseCurrency(sums, wanted, otherwise);
  const total = totalOf(sums, currency);
  const sumsAt = Map.groupBy(sums, ({ at }) => at);
  const all = groupsOf({ by, sums: sumsOfGroups, ...counts }, (own) => totalOf(own, currency));
  const groups = all.slice(0, limit);
  const ids = groups.map(({ id }) => id);
  const withPoints = ids.slice(0, MAX_WITH_POINTS);
  const points =
    withPoints.length === 0 ? [] : await usage.spending({ ...range, [some]: withPoints }, ["at", by]);
  const view = groupView({
    names: await namesOf(context, by, ids),
    before: Map.groupBy(sumsBefore, (sum) => sum[by]),
    points: Map.groupBy(points, (sum) => sum[by]),
    withPoints: new Set(withPoints),
    hasErrors: counted !== null,
    whole: total.amount,
    series,
    currency,
  });
  const pointAt = (at: number) => ({
    at: isoTime(at),
    ...usageView(totalOf(sumsAt.get(at) ?? [], currency)),
  });
  return {
    from: isoTime(series.from),
    to: isoTime(series.to),
    isUnfinished: series.isUnfinished,
    zone: series.zone,
    interval: series.interval,
    currency,
    currencies,
    totals: {
      ...usageView(total),
      requests: all.reduce((sum, group) => sum + group.total.requests, counts.unnamed),
      errors: counts.errors,
    },
    previous: spendView(spendingOf(sumsBefore, currency)),
    groupCount: all.length,
    series: series.points.map(pointAt),
    groups: groups.map(view),
  };
}

/**
 * Counts the requests and the failed requests of each group, and all failed requests. If `counted` is null, only the
 * ledger has these groups. Failed requests then belong to no group, and `unnamed` is the number of failed requests that
 * are not in the ledger.
 */
async function countRequests(
  { store: { usage } }: AdminContext,
  range: UsageRange,
  counted: CountedGroup | null,
) {
  const isOfKeys = counted === "keyId" || range.keys !== undefined;
  const counts = await usage.counts(range, [counted ?? "model"]);
  const failures = counts.filter(({ errors: some }) => some > 0);
  const errors = failures.reduce((sum, each) => sum + each.errors, 0);
  if (counted === null) {
    const unnamed = failures.reduce((sum, each) => sum + unchargedOf(each), 0);
    return { came: null, failed: NO_COUNTS, uncharged: NO_COUNTS, errors, unnamed };
  }
  const nameOf = (sum: CountSum) => sum[counted];
  return {
    came: isOfKeys ? null : countBy(counts, nameOf, ({ requests }) => requests),
    failed: countBy(failures, nameOf, (sum) => sum.errors),
    uncharged: countBy(failures, nameOf, unchargedOf),
    errors,
    unnamed: 0,
  };
}

/** Returns a function that makes the view of a group. */
function groupView({
  names,
  before,
  points,
  withPoints,
  hasErrors,
  whole,
  series,
  currency,
}: {
  names: ReadonlyMap<string, string | undefined>;
  before: ReadonlyMap<string, SpendingSum[]>;
  points: ReadonlyMap<string, SpendingSum[]>;
  withPoints: ReadonlySet<string>;
  hasErrors: boolean;
  whole: Nanos;
  series: Series;
  currency: string;
}) {
  return ({ id, total, errors }: ReturnType<typeof groupsOf<UsageSum, Total>>[number]) => ({
    id,
    name: names.get(id) ?? id,
    ...usageView(total),
    errors: hasErrors ? errors : null,
    previousAmount: spendView(spendingOf(before.get(id) ?? [], currency)).amount,
    share: shareOf(total.amount, whole),
    points: withPoints.has(id) ? pointsOf(points.get(id) ?? [], series, currency) : [],
  });
}

/** Returns the range and the chart points for a filter. Throws 404 for an unknown organization or key. */
async function usageRange(
  context: AdminContext,
  { organizationId, keyId, model, channel, ...times }: z.output<typeof usageFilterSchema>,
  by: Group,
): Promise<{ series: Series; range: UsageRange; otherwise: string }> {
  const own = organizationId === undefined ? null : await getOrganization(context, organizationId);
  if (keyId !== undefined) await getKey(context, keyId, "keyId");
  const isOfCaller = by === "source" || by === "client";
  const isOfHours =
    keyId !== undefined || by === "keyId" || (isOfCaller && (model !== undefined || channel !== undefined));
  const series = readSeries({ ...times, isOfHours }, context.clock.now(), 30 * DAY_MS);
  const range = {
    ...series.where,
    ...(organizationId !== undefined && { organizations: [organizationId] }),
    ...(keyId !== undefined && { keys: [keyId] }),
    ...(model !== undefined && { models: [model] }),
    ...(channel !== undefined && { channels: [channel] }),
  };
  return { series, range, otherwise: own?.currency ?? "USD" };
}

function pointsOf(sums: readonly SpendingSum[], { points }: Series, currency: string) {
  const sumsAt = Map.groupBy(sums, ({ at }) => at);
  const pointAt = (at: number) => ({
    at: isoTime(at),
    ...spendView(spendingOf(sumsAt.get(at) ?? [], currency)),
  });
  return points.map(pointAt);
}
