import { z } from "zod";
import type { AdminContext } from "../context.ts";
import { queryTimeSchema } from "../input.ts";
import { getKey } from "../keys/keys.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { namesOf, requestsOf, type Group } from "../overview/top-groups.ts";
import { isoTime } from "../output.ts";
import { chooseCurrency, previousOf, readSeries, type Series } from "./range.ts";
import type { ErrorSum, SpendingSum, TrafficSum, UsageRange, UsageSum } from "./store-port.ts";
import { intervalSchema, type usageSchema } from "./schema.ts";
import { shareOf, spendingOf, spendView, totalOf, usageView } from "./totals.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Groups of a reading, by amount: as many as are usually asked for, and at most. */
const USUAL_GROUPS = 100;
export const MAX_GROUPS = 10_000;
/** Groups with points of their own. */
const MAX_WITH_POINTS = 20;

const usageFilterSchema = z.strictObject({
  from: queryTimeSchema.optional().describe("By default 30 days before `to`"),
  to: queryTimeSchema.optional().describe("Exclusive; now by default"),
  organizationId: z.string().optional(),
  keyId: z.string().optional(),
  model: z.string().optional(),
  channel: z.string().optional(),
  interval: intervalSchema.optional().describe("By default the finest that stays readable"),
});

export const usageInputSchema = usageFilterSchema.extend({
  groupBy: z.enum(["model", "key", "organization", "channel"]).default("model"),
  currency: z.string().optional().describe("By default the one of most requests"),
  limit: z.coerce.number().int().min(1).max(MAX_GROUPS).optional().describe(`${USUAL_GROUPS} by default`),
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
  const { groupBy, currency: wanted, limit = USUAL_GROUPS, ...filter } = input;
  const { series, range, otherwise } = await usageRange(context, filter);
  const { by, filter: some } = GROUPS[groupBy];
  const { usage } = context.store;
  const before = { ...range, ...previousOf(series) };
  const [sums, sumsOfGroups, came, failed, sumsBefore] = await Promise.all([
    usage.sums(range, ["at"]),
    usage.sums(range, [by]),
    usage.traffic(range, by === "keyId" ? [] : [by]),
    usage.errors(range, [by]),
    usage.spending(before, [by]),
  ]);
  const { currency, currencies } = chooseCurrency(sums, wanted, otherwise);
  const total = totalOf(sums, currency);
  const sumsAt = Map.groupBy(sums, ({ at }) => at);
  const counted = countsOf(by, range.keys === undefined ? came : [], failed);
  const all = groupsOf(sumsOfGroups, by, currency, counted);
  const groups = all.slice(0, limit);
  const groupsBefore = Map.groupBy(sumsBefore, (sum) => sum[by]);
  const withPoints = groups.slice(0, MAX_WITH_POINTS).map(({ id }) => id);
  const points =
    withPoints.length === 0 ? [] : await usage.spending({ ...range, [some]: withPoints }, ["at", by]);
  const pointsOfGroup = Map.groupBy(points, (sum) => sum[by]);
  const names = await namesOf(
    context,
    by,
    groups.map(({ id }) => id),
  );
  const groupView = ({ id, total: own, errors }: (typeof groups)[number]) => ({
    id,
    name: names.get(id) ?? id,
    ...usageView(own),
    errors,
    previousAmount: spendView(spendingOf(groupsBefore.get(id) ?? [], currency)).amount,
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
    totals: { ...usageView(total), errors: all.reduce((sum, { errors }) => sum + errors, 0) },
    previous: spendView(spendingOf(sumsBefore, currency)),
    groupCount: all.length,
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

/** Requests that came and that failed, by group. Nothing is known of those of a key that succeeded but their charges. */
function countsOf(by: Group, came: readonly TrafficSum[], failed: readonly ErrorSum[]) {
  const counts = new Map<string, { came: number; errors: number }>();
  const of = (id: string) => {
    const known = counts.get(id) ?? { came: 0, errors: 0 };
    counts.set(id, known);
    return known;
  };
  if (by !== "keyId") for (const sum of came) of(sum[by]).came += sum.requests;
  for (const sum of failed) of(sum[by]).errors += sum.errors;
  return counts;
}

/** All groups, the dearest first, also those whose requests all failed. */
function groupsOf(
  sums: readonly UsageSum[],
  by: Group,
  currency: string,
  counts: ReturnType<typeof countsOf>,
) {
  const groups = Map.groupBy(sums, (sum) => sum[by]);
  for (const id of counts.keys()) if (!groups.has(id)) groups.set(id, []);
  return [...groups]
    .map(([id, own]) => {
      const total = totalOf(own, currency);
      const { came = 0, errors = 0 } = counts.get(id) ?? {};
      return { id, errors, total: { ...total, requests: requestsOf(by, total.requests, came, errors) } };
    })
    .toSorted(
      (one, other) =>
        Number(other.total.amount - one.total.amount) || other.total.requests - one.total.requests,
    );
}

function pointsOf(sums: readonly SpendingSum[], { points }: Series, currency: string) {
  const sumsAt = Map.groupBy(sums, ({ at }) => at);
  const pointAt = (at: number) => ({
    at: isoTime(at),
    ...spendView(spendingOf(sumsAt.get(at) ?? [], currency)),
  });
  return points.map(pointAt);
}
