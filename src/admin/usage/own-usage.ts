import { periodEnd, startOfSpan } from "../../domain/calendar.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../domain/usage.ts";
import { formatNanos } from "../../lib/money.ts";
import { isoTime } from "../output.ts";
import type { AdminStore } from "../admin-store.ts";
import { rowOf } from "../requests/requests.ts";
import type { UsageSum } from "./store-port.ts";
import { totalOf } from "./totals.ts";
import type { BudgetRecord } from "../budgets/schema.ts";

const DAY_MS = 24 * 60 * 60_000;
const LAST_REQUESTS = 20;

/** Key whose usage is read. */
interface UsageOwner {
  keyId: string;
  currency: string;
  /** Ids of the budgets that limit the key's requests. */
  budgets: readonly string[];
}

type Stores = Pick<AdminStore, "usage" | "budgets" | "requests">;

/** Returns data for the user of a key: recent usage, remaining amounts of its budgets, and its last requests. */
export async function readOwnUsage(
  store: Stores,
  { keyId, currency, budgets }: UsageOwner,
  days: number,
  now: number,
) {
  const from = startOfSpan("day", now) - (days - 1) * DAY_MS;
  const [sums, records, last] = await Promise.all([
    store.usage.sums({ from, to: now + DAY_MS, span: "day", keys: [keyId] }, ["at", "model"]),
    Promise.all(budgets.map((id) => store.budgets.get(id))),
    store.requests.list({ keyId }, { below: null, limit: LAST_REQUESTS }),
  ]);
  const byDay = Map.groupBy(sums, ({ at }) => at);
  return {
    from: isoTime(from),
    to: isoTime(now),
    currency,
    totals: view(sums, currency),
    models: byModel(sums, currency),
    days: [...byDay.keys()].toSorted().map((at) => {
      const own = byDay.get(at) ?? [];
      return Object.assign(view(own, currency), {
        date: isoTime(at).slice(0, 10),
        models: byModel(own, currency),
      });
    }),
    budgets: records.flatMap((record) => (record ? [budgetView(record, currency)] : [])),
    requests: last.map(requestView),
  };
}

function byModel(sums: readonly UsageSum[], currency: string) {
  const groups = [...Map.groupBy(sums, ({ model }) => model)].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return groups.map(([model, own]) => Object.assign(view(own, currency), { model }));
}

function view(sums: readonly UsageSum[], currency: string) {
  const { requests, images, categories, amount } = totalOf(sums, currency);
  const used = TOKEN_CATEGORIES.filter((category) => categories[category] > 0);
  return {
    requests,
    amount: formatNanos(amount),
    images,
    tokens: Object.fromEntries(
      used.map((category) => [TOKEN_CATEGORY_NAMES[category], categories[category]]),
    ),
  };
}

function budgetView({ keyId, amount, spent, period, periodStart }: BudgetRecord, currency: string) {
  const end = periodEnd(period, periodStart);
  const left = amount - spent;
  return {
    scope: keyId === null ? "organization" : "key",
    period,
    amount: formatNanos(amount),
    spent: formatNanos(spent),
    left: formatNanos(left > 0n ? left : 0n),
    currency,
    period_end: end === null ? null : isoTime(end),
  };
}

/** Returns the view of a request, without the names of channels and vendors. */
function requestView(request: Parameters<typeof rowOf>[0]) {
  const row = rowOf(request, NO_NAMES);
  return {
    id: row.id,
    request_id: row.requestId,
    at: row.at,
    model: row.model,
    status: row.status,
    code: row.code,
    message: row.message,
    duration_ms: row.durationMs,
    amount: row.amount,
    currency: row.currency,
    images: row.images,
    tokens: row.tokens,
  };
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();
