import type { Nanos } from "../../lib/money.ts";
import { firstOf } from "../database/columns.ts";
import type { Sql } from "../database/sql.ts";

/** The newest entries of an organization that a correction looks at, so that requests never wait for a long one. */
const MAX_ENTRIES = 10_000;

interface Correction {
  id: string;
  organizationId: string;
  spent: Nanos;
  /** The start that a wrong clock wrote, and the one that takes its place. Unix milliseconds. */
  wrongStart: number;
  periodStart: number;
}

/**
 * Gives a locked budget whose period a wrong clock began the period that runs, with the bookings that were made since.
 * Returns what is spent in it, with what was booked in it before the clock went wrong.
 */
export async function correctPeriod(
  sql: Sql,
  { id, organizationId, spent, wrongStart, periodStart }: Correction,
): Promise<Nanos> {
  const newest = sql`budget = ${id} AND entry IN (
    SELECT id FROM ledger WHERE organization_id = ${organizationId} ORDER BY at DESC LIMIT ${MAX_ENTRIES})`;
  await sql`UPDATE ledger_bookings SET period_start = ${periodStart}
    WHERE ${newest} AND period_start = ${wrongStart}`;
  const row = firstOf(
    await sql<{ sum: string }[]>`SELECT CAST(COALESCE(SUM(amount), 0) AS TEXT) AS sum FROM ledger_bookings
      WHERE ${newest} AND period_start = ${periodStart}`,
  );
  const booked = BigInt(row?.sum ?? 0);
  const all = booked > spent ? booked : spent;
  await sql`UPDATE budgets SET period_start = ${periodStart}, spent = ${all} WHERE id = ${id}`;
  return all;
}
