import { z } from "zod";
import type { Progress } from "../../lib/progress.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import type { LedgerArchive } from "./store-port.ts";
import type { LedgerVerification } from "./verification-schema.ts";
import { inputError } from "../../domain/schema-problems.ts";

/** Compares the ledger with budgets, leases and the journals of this machine. The gateway may be running. */
export async function verifyLedger({ store }: AdminContext): Promise<LedgerVerification> {
  return await store.ledger.verify();
}

/**
 * Moves the months before `before` (such as `2026-01`, in UTC) from the ledger to files in a folder, oldest first.
 * Yields each month when it is done. Only months that have ended can be moved, because budgets of the running month are
 * checked against the entries of this month.
 */
export async function* archiveLedger(
  context: AdminContext,
  input: z.output<typeof archiveSchema>,
  onProgress: Progress = () => {},
): AsyncGenerator<LedgerArchive> {
  const { before, folder } = input;
  if (before > monthOf(context.clock.now()))
    throw new AdminError(400, "before", `the month before ${before} is not over yet`);
  const oldest = await context.store.ledger.oldestMonth(folder);
  if (oldest === null) return;
  for (let month = oldest; month < before; month = nextMonth(month)) {
    const archive = await context.store.ledger.archive(month, folder, context.by, onProgress);
    if (archive) yield archive;
  }
}

export const archiveSchema = z.strictObject({
  before: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, { error: inputError("input.month", {}) }),
  folder: z.string().min(1),
});

function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7);
}

function nextMonth(month: string): string {
  const first = new Date(`${month}-01T00:00:00Z`);
  return monthOf(first.setUTCMonth(first.getUTCMonth() + 1));
}
