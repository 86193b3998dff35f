import type { LedgerEntry } from "../../domain/ledger.ts";
import {
  integer,
  json,
  money,
  named,
  nullable,
  optional,
  table,
  text,
  time,
  type Row,
} from "../database/table.ts";

/** An entry but for its vendor cost, which takes two columns. */
const entries = table<Omit<LedgerEntry, "vendorCost">>("ledger", {
  id: text(),
  kind: text(),
  requestId: text(),
  organizationId: text(),
  keyId: text(),
  source: optional(text()),
  model: text(),
  channel: nullable(text()),
  upstreamModel: nullable(text()),
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

/** `sequence` is that of the transaction: see `nextSequence`. */
export function writeEntryRow(entry: LedgerEntry, sequence: bigint | null): Row {
  const row = entries.write(entry);
  row["vendor_cost"] = entry.vendorCost?.amount ?? null;
  row["vendor_cost_currency"] = entry.vendorCost?.currency ?? null;
  row["sequence"] = sequence;
  return row;
}
