import { z } from "zod";
import { formatNanos } from "../../lib/money.ts";
import type { SpendingSum, UsageRange, UsageStore } from "../usage/store-port.ts";
import { fullestBudgets } from "./fullest-budgets.ts";
import type { AdminContext } from "../context.ts";
import { queryTimeSchema } from "../input.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { readStatus } from "../status/status.ts";
import { topGroups } from "./top-groups.ts";
import { isoTime } from "../output.ts";
import { chooseCurrency, previousOf, readSeries, type Series } from "../usage/range.ts";
import { type overviewSchema, zoneSchema } from "../usage/schema.ts";
import { spendView, spendingOf, trafficView } from "../usage/totals.ts";

const DAY_MS = 24 * 60 * 60_000;
const MAX_BUDGETS = 12;
/** Number of models that have a series of their own in the chart of spending. */
const MAX_STACKED = 7;

export const overviewInputSchema = z.strictObject({
  organizationId: z.string().optional(),
  from: queryTimeSchema.optional().describe("By default a day before `to`"),
  to: queryTimeSchema.optional().describe("Exclusive; now by default"),
  zone: zoneSchema,
  currency: z.string().optional().describe("By default the one of most requests"),
});

/** Returns everything that the console's first page shows. */
export async function readOverview(
  context: AdminContext,
  input: z.output<typeof overviewInputSchema>,
): Promise<z.output<typeof overviewSchema>> {
  const { organizationId, currency: wanted, ...range } = input;
  const own = organizationId === undefined ? null : await getOrganization(context, organizationId);
  const series = readSeries(range, context.clock.now(), DAY_MS);
  const where = {
    ...series.where,
    ...(organizationId !== undefined && { organizations: [organizationId] }),
  };
  // The latest counts are written first, so that all figures of the page include them and do not contradict each other.
  await context.running?.writeCounts();
  const [sums, budgets, status, checklist] = await Promise.all([
    readSums(context.store.usage, where, { ...where, ...previousOf(series) }),
    fullestBudgets(context, organizationId, MAX_BUDGETS),
    readStatus(context, organizationId),
    firstSteps(context),
  ]);
  const { byModel, byOthers, overTime } = sums;
  const { currency, currencies } = chooseCurrency(byOthers, wanted, own?.currency ?? "USD");
  const total = spendingOf(byOthers, currency);
  const traffic = trafficView(overTime);
  return {
    from: isoTime(series.from),
    to: isoTime(series.to),
    isUnfinished: series.isUnfinished,
    zone: series.zone,
    interval: series.interval,
    currency,
    currencies,
    totals: joined(total, traffic),
    previous: joined(spendingOf(sums.spentBefore, currency), trafficView(sums.trafficBefore)),
    series: pointsOf(series, byModel, overTime, currency),
    spend: spendByModel(series, byModel, currency),
    top: await topGroups(context, sums, currency, total.amount),
    budgets,
    status,
    channels: [...status.channels]
      .map(([id, health]) => Object.assign({ id }, health))
      .toSorted((one, other) => RANK[one.state] - RANK[other.state] || other.requests - one.requests),
    checklist,
  };
}

const RANK = { ejected: 0, failing: 1, slow: 2, ok: 3, idle: 4, untried: 5 };

async function readSums(usage: UsageStore, where: UsageRange, before: UsageRange) {
  const [byModel, byOthers, overTime, counts, spentBefore, trafficBefore] = await Promise.all([
    usage.spending(where, ["at", "model"]),
    usage.spending(where, ["organizationId", "keyId", "channel"]),
    usage.traffic(where, ["at"]),
    usage.counts(where, ["organizationId", "keyId", "model", "channel"]),
    usage.spending(before, []),
    usage.traffic(before, []),
  ]);
  return { byModel, byOthers, overTime, counts, spentBefore, trafficBefore };
}

/**
 * Joins spending and traffic. The ledger may contain more charged requests than were counted, so the larger number of
 * requests is used.
 */
function joined(total: ReturnType<typeof spendingOf>, traffic: ReturnType<typeof trafficView>) {
  return {
    ...spendView(total),
    ...traffic,
    requests: Math.max(total.requests, traffic.requests),
  };
}

function pointsOf(
  series: Series,
  sums: readonly SpendingSum[],
  counts: Parameters<typeof trafficView>[0],
  currency: string,
): z.input<typeof overviewSchema>["series"] {
  const sumsAt = Map.groupBy(sums, ({ at }) => at);
  const countsAt = Map.groupBy(counts, ({ at }) => at);
  const pointAt = (at: number) => ({
    at: isoTime(at),
    ...joined(spendingOf(sumsAt.get(at) ?? [], currency), trafficView(countsAt.get(at) ?? [])),
  });
  return series.points.map(pointAt);
}

/** Returns for each point the amounts of the most expensive models, and one amount for all other models together. */
function spendByModel(
  { points }: Series,
  sums: readonly SpendingSum[],
  currency: string,
): z.input<typeof overviewSchema>["spend"] {
  const amounts = new Map<string, Map<number, bigint>>();
  const totals = new Map<string, bigint>();
  for (const sum of sums) {
    if (sum.currency !== currency) continue;
    totals.set(sum.model, (totals.get(sum.model) ?? 0n) + sum.amount);
  }
  const dearest = [...totals].toSorted(([, one], [, other]) => (one < other ? 1 : -1));
  const named = new Set(dearest.slice(0, MAX_STACKED).map(([model]) => model));
  for (const { model, at, amount, currency: own } of sums) {
    if (own !== currency) continue;
    const id = named.has(model) ? model : "other";
    const row = amounts.get(id) ?? new Map<number, bigint>();
    amounts.set(id, row);
    row.set(at, (row.get(at) ?? 0n) + amount);
  }
  const order = [...named, ...(amounts.has("other") ? ["other"] : [])];
  return order.map((id) => ({
    id,
    amounts: points.map((at) => formatNanos(amounts.get(id)?.get(at) ?? 0n)),
  }));
}

/**
 * Returns which of the first steps are done. The step of creating a key is done when there are two keys, because the
 * first start makes one key.
 */
async function firstSteps({ store, catalogue }: AdminContext) {
  const [picture, keys, budgets, alerts] = await Promise.all([
    store.usage.hasPictures(),
    store.keys.page({ limit: 2 }),
    store.budgets.page({ limit: 1 }),
    store.alerts.page({ limit: 1 }),
  ]);
  const vendors = [...catalogue.channels.values()].filter(({ provider }) => provider !== "sandbox");
  return {
    picture,
    key: keys.length > 1,
    vendor: vendors.length > 0,
    budget: budgets.length > 0,
    alert: alerts.length > 0,
  };
}
