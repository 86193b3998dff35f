import type { LedgerEntry } from "../../domain/ledger.ts";
import type { Integer } from "../database/columns.ts";

/** A ledger entry as a row. */
export interface LedgerRow {
  id: string;
  kind: LedgerEntry["kind"];
  request_id: string;
  organization_id: string;
  key_id: string;
  model: string;
  channel: string | null;
  upstream_model: string | null;
  at: Integer;
  admitted_at: Integer | null;
  consumed: string | null;
  amount: bigint;
  currency: string;
  price_source: LedgerEntry["priceSource"];
  orphan_cost: bigint;
  budgets: string;
  attempts: string;
  flags: string;
  corrects: string | null;
  vendor_cost: bigint | null;
  vendor_cost_currency: string | null;
  source: string | null;
  /** 1 when it was added to the sums of usage as it was written; null of what earlier versions have written. */
  is_summed: Integer | null;
  sequence: Integer | null;
}

export function readEntryRow(row: LedgerRow): LedgerEntry {
  return {
    id: row.id,
    kind: row.kind,
    requestId: row.request_id,
    organizationId: row.organization_id,
    keyId: row.key_id,
    ...(row.source !== null && { source: row.source }),
    model: row.model,
    channel: row.channel,
    upstreamModel: row.upstream_model,
    at: Number(row.at),
    ...(row.admitted_at !== null && { admittedAt: Number(row.admitted_at) }),
    usage: row.consumed === null ? null : JSON.parse(row.consumed),
    amount: row.amount,
    currency: row.currency,
    priceSource: row.price_source,
    orphanCost: row.orphan_cost,
    budgets: JSON.parse(row.budgets),
    attempts: JSON.parse(row.attempts),
    flags: JSON.parse(row.flags),
    ...(row.corrects !== null && { corrects: row.corrects }),
    ...(row.sequence !== null && { sequence: Number(row.sequence) }),
    ...(row.vendor_cost !== null && {
      vendorCost: { amount: row.vendor_cost, currency: row.vendor_cost_currency ?? row.currency },
    }),
  };
}

/** `sequence` is that of the transaction: see `nextSequence`. */
export function writeEntryRow(entry: LedgerEntry, sequence: bigint | null): LedgerRow {
  return {
    id: entry.id,
    kind: entry.kind,
    request_id: entry.requestId,
    organization_id: entry.organizationId,
    key_id: entry.keyId,
    model: entry.model,
    channel: entry.channel,
    upstream_model: entry.upstreamModel,
    at: entry.at,
    admitted_at: entry.admittedAt ?? null,
    consumed: entry.usage && JSON.stringify(entry.usage),
    amount: entry.amount,
    currency: entry.currency,
    price_source: entry.priceSource,
    orphan_cost: entry.orphanCost,
    budgets: JSON.stringify(entry.budgets),
    attempts: JSON.stringify(entry.attempts),
    flags: JSON.stringify(entry.flags),
    corrects: entry.corrects ?? null,
    vendor_cost: entry.vendorCost?.amount ?? null,
    vendor_cost_currency: entry.vendorCost?.currency ?? null,
    source: entry.source ?? null,
    is_summed: 1,
    sequence,
  };
}
