import { z } from "zod";
import type { AdminContext } from "../context.ts";
import { queryTimeSchema } from "../input.ts";
import { getKey } from "../keys/keys.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { namesOf, type Group } from "../overview/top-groups.ts";
import { isoTime } from "../output.ts";
import { chooseCurrency, readSeries, type Series } from "./range.ts";
import type { SpendingSum, UsageRange, UsageSum } from "./store-port.ts";
import type { usageSchema } from "./schema.ts";
import { shareOf, spendingOf, spendView, totalOf, usageView } from "./totals.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Groups of a reading, by amount. */
const MAX_GROUPS = 100;
/** Groups with points of their own. */
const MAX_WITH_POINTS = 20;

const usageFilterSchema = z.strictObject({
  from: queryTimeSchema.optional().describe("By default 30 days before `to`"),
  to: queryTimeSchema.optional().describe("Exclusive; now by default"),
  organizationId: z.string().optional(),
  keyId: z.string().optional(),
  model: z.string().optional(),
  channel: z.string().optional(),
  interval: z.enum(["hour", "day", "month"]).optional().describe("By default the finest that stays readable"),
});

export const usageInputSchema = usageFilterSchema.extend({
  groupBy: z.enum(["model", "key", "organization", "channel"]).default("model"),
  currency: z.string().optional().describe("By default the one of most requests"),
});

/** Dimension of each grouping in sums, and the filter for some of its groups. */
const GROUPS = {
  model: { by: "model", filter: "models" },
  key: { by: "keyId", filter: "keys" },
  organization: { by: "organizationId", filter: "organizations" },
  channel: { by: "channel", filter: "channels" },
} as const satisfies Record<z.output<typeof usageInputSchema>["groupBy"], { by: Group; filter: string }>;

/** Usage of a range: in all, over time, and by group. */
export async function readUsage(
  context: AdminContext,
  input: z.output<typeof usageInputSchema>,
): Promise<z.input<typeof usageSchema>> {
  const { groupBy, currency: wanted, ...filter } = input;
  const { series, range, otherwise } = await usageRange(context, filter);
  const { by, filter: some } = GROUPS[groupBy];
  const { usage } = context.store;
  const [sums, sumsOfGroups] = await Promise.all([usage.sums(range, ["at"]), usage.sums(range, [by])]);
  const { currency, currencies } = chooseCurrency(sums, wanted, otherwise);
  const total = totalOf(sums, currency);
  const sumsAt = Map.groupBy(sums, ({ at }) => at);
  const groups = dearestGroups(sumsOfGroups, by, currency);
  const withPoints = groups.slice(0, MAX_WITH_POINTS).map(({ id }) => id);
  const points =
    withPoints.length === 0 ? [] : await usage.spending({ ...range, [some]: withPoints }, ["at", by]);
  const pointsOfGroup = Map.groupBy(points, (sum) => sum[by]);
  const names = await namesOf(
    context,
    by,
    groups.map(({ id }) => id),
  );
  const groupView = ({ id, total: own }: (typeof groups)[number]) => ({
    id,
    name: names.get(id) ?? id,
    ...usageView(own),
    share: shareOf(own.amount, total.amount),
    points: withPoints.includes(id) ? pointsOf(pointsOfGroup.get(id) ?? [], series, currency) : [],
  });
  const pointAt = (at: number) => ({
    at: isoTime(at),
    ...usageView(totalOf(sumsAt.get(at) ?? [], currency)),
  });
  return {
    from: isoTime(series.from),
    to: isoTime(series.to),
    interval: series.interval,
    currency,
    currencies,
    totals: usageView(total),
    series: series.points.map(pointAt),
    groups: groups.map(groupView),
  };
}

/** The sums that a filter means, with its points. Throws 404 for an unknown organization or key. */
async function usageRange(
  context: AdminContext,
  { organizationId, keyId, model, channel, ...times }: z.output<typeof usageFilterSchema>,
): Promise<{ series: Series; range: UsageRange; otherwise: string }> {
  const own = organizationId === undefined ? null : await getOrganization(context, organizationId);
  if (keyId !== undefined) await getKey(context, keyId, "keyId");
  const series = readSeries(times, context.clock.now(), 30 * DAY_MS);
  const range = {
    from: series.from,
    to: series.to,
    span: series.interval,
    ...(organizationId !== undefined && { organizations: [organizationId] }),
    ...(keyId !== undefined && { keys: [keyId] }),
    ...(model !== undefined && { models: [model] }),
    ...(channel !== undefined && { channels: [channel] }),
  };
  return { series, range, otherwise: own?.currency ?? "USD" };
}

function dearestGroups(sums: readonly UsageSum[], by: Group, currency: string) {
  return [...Map.groupBy(sums, (sum) => sum[by])]
    .map(([id, own]) => ({ id, total: totalOf(own, currency) }))
    .toSorted(
      (one, other) =>
        Number(other.total.amount - one.total.amount) || other.total.requests - one.total.requests,
    )
    .slice(0, MAX_GROUPS);
}

function pointsOf(sums: readonly SpendingSum[], { points }: Series, currency: string) {
  const sumsAt = Map.groupBy(sums, ({ at }) => at);
  const pointAt = (at: number) => ({
    at: isoTime(at),
    ...spendView(spendingOf(sumsAt.get(at) ?? [], currency)),
  });
  return points.map(pointAt);
}
