import type { LedgerEntry } from "../domain/ledger.ts";

/** A ledger entry as JSON has it: money as decimal strings of nano-units. */
type WrittenEntry = Omit<LedgerEntry, "amount" | "orphanCost" | "vendorCost"> & {
  amount: string;
  orphanCost: string;
  vendorCost?: { amount: string; currency: string };
};

export function writeEntry(entry: LedgerEntry): WrittenEntry {
  const { amount, orphanCost, vendorCost } = entry;
  return {
    ...entry,
    amount: amount.toString(),
    orphanCost: orphanCost.toString(),
    // JSON leaves out what is undefined.
    vendorCost: vendorCost && { ...vendorCost, amount: vendorCost.amount.toString() },
  };
}

export function readEntry({ amount, orphanCost, vendorCost, ...rest }: WrittenEntry): LedgerEntry {
  return {
    ...rest,
    amount: BigInt(amount),
    orphanCost: BigInt(orphanCost),
    ...(vendorCost && { vendorCost: { ...vendorCost, amount: BigInt(vendorCost.amount) } }),
  };
}
