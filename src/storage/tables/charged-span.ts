import type { RequestFilter } from "../../admin/usage/store-port.ts";
import { nextSpan, startOfSpan, type Span } from "../../domain/calendar.ts";
import { padded, type Integer } from "../database/expressions.ts";
import type { Sql } from "../database/sql.ts";

/** The part of a filter that applies to the sums of the ledger. */
type ChargeFilter = Pick<RequestFilter, "organizations" | "keyId" | "model" | "channel" | "from" | "to">;

/** If the months of a span contain fewer requests than this, the first and the last day are searched as well. */
const FEW = 1_000;

/**
 * Returns the time span in which the ledger has entries that match a filter. The span comes from the sums, so a list
 * with few or no matches need not read the whole ledger. Returns null when nothing matches, and a span without limits
 * when the ledger has an index for the filter.
 */
export async function chargedSpan(
  sql: Sql,
  filter: ChargeFilter,
): Promise<Pick<ChargeFilter, "from" | "to"> | null> {
  const { model, channel, keyId, organizations } = filter;
  const isIndexed = model === undefined && channel === undefined;
  if (isIndexed && (keyId === undefined || organizations === undefined)) return {};
  const months = await spanOf(sql, "month", filter);
  if (!months) return null;
  const found =
    months.requests < FEW ? await spanOf(sql, "day", { ...filter, ...within(months, filter) }) : months;
  return found && within(found, filter);
}

function within(found: { from: number; to: number }, { from, to }: ChargeFilter) {
  return { from: Math.max(found.from, from ?? 0), to: Math.min(found.to, to ?? Infinity) };
}

async function spanOf(
  sql: Sql,
  span: Extract<Span, "month" | "day">,
  { organizations, keyId, model, channel, from, to }: ChargeFilter,
): Promise<{ from: number; to: number; requests: number } | null> {
  const [row] = await sql<{ first: Integer | null; last: Integer | null; requests: Integer | null }[]>`
    SELECT MIN(at) AS first, MAX(at) AS last, SUM(requests) AS requests
    FROM ${sql.unsafe(`usage_${span}s`)} WHERE 1 = 1
    ${from === undefined ? sql`` : sql`AND at >= ${startOfSpan(span, from)}`}
    ${to === undefined ? sql`` : sql`AND at < ${to}`}
    ${organizations === undefined ? sql`` : sql`AND organization_id IN ${sql(padded(organizations))}`}
    ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}
    ${model === undefined ? sql`` : sql`AND model = ${model}`}
    ${channel === undefined ? sql`` : sql`AND channel = ${channel}`}`;
  if (!row || row.first === null || row.last === null) return null;
  return { from: Number(row.first), to: nextSpan(span, Number(row.last)), requests: Number(row.requests) };
}
