import { z } from "zod";
import type { AdminContext } from "./context.ts";
import { readInput } from "./input.ts";
import { getKey } from "./keys.ts";
import { getOrganization } from "./organizations.ts";
import { nameOf, type Group } from "./overview-top.ts";
import { isoTime } from "./output.ts";
import { queryTimeSchema } from "./query-input.ts";
import { chooseCurrency, readSeries, type Series } from "./usage-range.ts";
import type { UsageRange, UsageSum } from "./usage-ports.ts";
import type { usageSchema } from "./usage-schemas.ts";
import { shareOf, spendingOf, spendView, totalOf, usageView, type Total } from "./usage-totals.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Groups of a reading, by amount. */
const MAX_GROUPS = 100;
/** Groups with points of their own. */
const MAX_WITH_POINTS = 20;

export const usageFilterSchema = z.strictObject({
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

const DIMENSIONS: Readonly<Record<z.output<typeof usageInputSchema>["groupBy"], Group>> = {
  model: "model",
  key: "keyId",
  organization: "organizationId",
  channel: "channel",
};

/** Usage of a range: in all, over time, and by group. */
export async function readUsage(context: AdminContext, input: unknown): Promise<z.input<typeof usageSchema>> {
  const { groupBy, currency: wanted, ...filter } = readInput(usageInputSchema, input);
  const { series, range, otherwise } = await usageRange(context, filter);
  const by = DIMENSIONS[groupBy];
  const sums = await context.store.usage.sums(range, ["at", by]);
  const { currency, currencies } = chooseCurrency(sums, wanted, otherwise);
  const total = totalOf(sums, currency);
  const sumsAt = Map.groupBy(sums, ({ at }) => at);
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
    groups: await groupsOf(context, { sums, by, series, currency, total }),
  };
}

/** The sums that a filter means, with its points. Throws 404 for an unknown organization or key. */
export async function usageRange(
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
    ...(keyId !== undefined && { keyId }),
    ...(model !== undefined && { model }),
    ...(channel !== undefined && { channel }),
  };
  return { series, range, otherwise: own?.currency ?? "USD" };
}

interface Grouping {
  sums: readonly UsageSum[];
  by: Group;
  series: Series;
  currency: string;
  total: Total;
}

async function groupsOf(
  context: AdminContext,
  { sums, by, series, currency, total }: Grouping,
): Promise<z.input<typeof usageSchema>["groups"]> {
  const groups = [...Map.groupBy(sums, (sum) => sum[by])].map(([id, own]) => ({
    id,
    own,
    total: totalOf(own, currency),
  }));
  const dearest = groups
    .toSorted(
      (one, other) =>
        Number(other.total.amount - one.total.amount) || other.total.requests - one.total.requests,
    )
    .slice(0, MAX_GROUPS);
  const view = async (group: (typeof dearest)[number], index: number) => ({
    id: group.id,
    name: await nameOf(context, by, group.id),
    ...usageView(group.total),
    share: shareOf(group.total.amount, total.amount),
    points: index < MAX_WITH_POINTS ? pointsOf(group.own, series, currency) : [],
  });
  return await Promise.all(dearest.map(view));
}

function pointsOf(sums: readonly UsageSum[], { points }: Series, currency: string) {
  const sumsAt = Map.groupBy(sums, ({ at }) => at);
  const pointAt = (at: number) => ({
    at: isoTime(at),
    ...spendView(spendingOf(sumsAt.get(at) ?? [], currency)),
  });
  return points.map(pointAt);
}
