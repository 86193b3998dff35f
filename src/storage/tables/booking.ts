import { countsInPeriod } from "../../domain/calendar.ts";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Nanos } from "../../lib/money.ts";
import {
  chargeLease,
  lockBudgets,
  type LockedBudget,
  lockLeases,
  saveBudgets,
  saveLeases,
} from "../budgets/locked-budgets.ts";
import { addSums, groupsOf, insertStatement } from "../database/insert-statement.ts";
import { nextSequence } from "../database/ledger-sequence.ts";
import type { Database, Sql } from "../database/sql.ts";
import {
  integer,
  json,
  money,
  named,
  nullable,
  optional,
  type Row,
  table,
  text,
  time,
} from "../database/table.ts";
import { usageSums } from "./usage-sums.ts";

/**
 * Inserts entries. Books the entries on their budgets and on the leases that `holder` (a process or job) has on these
 * budgets. Exactly the new entries must be booked, so everything is one transaction. Returns the number of new entries.
 */
export async function bookInTransaction(
  kind: Database["kind"],
  sql: Sql,
  holder: string,
  entries: readonly LedgerEntry[],
): Promise<number> {
  const isNew = new Set<string>();
  const sorted = [...new Map(entries.map((entry) => [nameOf(entry), entry])).values()].sort(byName);
  const sequence = await nextSequence(kind, sql);
  for (const group of groupsOf(sorted)) {
    const rows = group.map((entry) => writeEntryRow(entry, sequence));
    const [text, values] = insertStatement(kind, "ledger", rows);
    const added = await sql.unsafe<{ id: string; kind: string }[]>(`${text} RETURNING id, kind`, values);
    for (const row of added) isNew.add(nameOf(row));
  }
  const booked = sorted.filter((entry) => isNew.has(nameOf(entry)));
  await bookEntries(kind, sql, holder, booked);
  // The sums are added last, because other transactions add to the same rows and wait until this transaction ends.
  await addSums(kind, sql, usageSums(booked));
  return booked.length;
}

/** Compares entries for a fixed order, so that two transactions with the same entries cannot deadlock. */
export function byName(one: LedgerEntry, other: LedgerEntry): number {
  if (one.id !== other.id) return one.id < other.id ? -1 : 1;
  return one.kind < other.kind ? -1 : 1;
}

async function bookEntries(
  kind: Database["kind"],
  sql: Sql,
  holder: string,
  entries: readonly LedgerEntry[],
): Promise<void> {
  const bookings = entries.flatMap((entry) =>
    [...new Set(entry.budgets)].map((budget) => ({ budget, entry })),
  );
  if (bookings.length === 0) return;
  const budgets = await lockBudgets(
    kind,
    sql,
    bookings.map(({ budget }) => budget),
  );
  const rows = bookings.map(({ budget: id, entry }) => {
    const budget = budgets.get(id);
    const periodStart = budget && countsIn(budget, entry.at) ? budget.periodStart : 0;
    return { budget: id, entry: entry.id, kind: entry.kind, amount: entry.amount, period_start: periodStart };
  });
  for (const group of groupsOf(rows)) await sql`INSERT INTO ledger_bookings ${sql(group)}`;
  const leases = await lockLeases(kind, sql, holder, budgets.keys());
  const charged = new Map<string, Nanos>();
  for (const { budget: id, kind: entryKind, amount, period_start: periodStart } of rows) {
    const budget = budgets.get(id);
    if (!budget) continue;
    if (periodStart === budget.periodStart) budget.spent += amount;
    if (entryKind === "charge") charged.set(id, (charged.get(id) ?? 0n) + amount);
  }
  for (const [id, lease] of leases) {
    const budget = budgets.get(id);
    if (budget) chargeLease(budget, lease, charged.get(id) ?? 0n);
  }
  await saveLeases(kind, sql, holder, leases);
  await saveBudgets(kind, sql, budgets.values());
}

/**
 * True when an entry counts in the current period of its budget. The entry has the time of this machine, but periods
 * begin by the store's clock, so the current difference of the clocks is added.
 */
function countsIn({ period, periodStart, now }: LockedBudget, at: number): boolean {
  return countsInPeriod(period, periodStart, at + now - systemClock.now(), now);
}

function nameOf(entry: { id: string; kind: string }): string {
  return `${entry.id} ${entry.kind}`;
}

/** An entry without its vendor cost, which takes two columns. */
const entries = table<Omit<LedgerEntry, "vendorCost">>("ledger", {
  id: text(),
  kind: text(),
  requestId: text(),
  organizationId: text(),
  keyId: text(),
  source: optional(text()),
  client: optional(text()),
  model: text(),
  channel: text(),
  upstreamModel: text(),
  at: time(),
  admittedAt: optional(time()),
  usage: named("consumed", nullable(json())),
  amount: money(),
  currency: text(),
  priceSource: text(),
  orphanCost: money(),
  budgets: json(),
  attempts: json(),
  flags: json(),
  corrects: optional(text()),
  sequence: optional(integer()),
});

export function readEntryRow(row: Row): LedgerEntry {
  const entry: LedgerEntry = entries.read(row);
  const { vendor_cost: amount = null, vendor_cost_currency: currency = null } = row;
  if (amount !== null)
    entry.vendorCost = { amount: BigInt(amount), currency: String(currency ?? entry.currency) };
  return entry;
}

/**
 * Returns the row of an entry. `sequence` is the sequence number of the transaction (`nextSequence`); null when the
 * number is set later.
 */
export function writeEntryRow(entry: LedgerEntry, sequence: bigint | null): Row {
  const row = entries.write(entry);
  row["vendor_cost"] = entry.vendorCost?.amount ?? null;
  row["vendor_cost_currency"] = entry.vendorCost?.currency ?? null;
  row["sequence"] = sequence;
  return row;
}
