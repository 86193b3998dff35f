import type { ClaimedJob, JobEnding, NewJob } from "../../src/jobs/ports.ts";
import type { LedgerEntry } from "../../src/domain/ledger.ts";
import { newId } from "../../src/lib/ids.ts";
import { anEntry } from "../contracts/storage-harness.ts";

/** Returns a new job as a submission gives it to the store. An image costs ten nano-units. */
export function aJob(change: Partial<NewJob> = {}): NewJob {
  const id = newId("job");
  return {
    id,
    organizationId: "org_a",
    keyId: "key_a",
    requestId: `request-${id}`,
    model: "sandbox-a",
    typicalMs: 10_000,
    deadlineMs: 60_000,
    webhookUrl: null,
    linkBase: "https://gateway.example.com",
    idempotency: null,
    terms: {
      admittedAt: 1_700_000_000_000,
      price: {
        unit: "image",
        currency: "USD",
        perImage: { "1K": { "*": { amount: 10n, source: "default", effectiveFrom: 0 } } },
      },
      ceiling: 40n,
      budgets: [],
      source: null,
      client: null,
    },
    request: '{"kind":"image"}',
    files: [],
    queuedLimit: { organization: null, key: null },
    keyRunningLimit: null,
    ...change,
  };
}

/** Returns the charge for a job's delivered images. */
export function aCharge(
  { jobId, organizationId, keyId }: ClaimedJob,
  count: number,
  budgets: readonly string[] = [],
): LedgerEntry {
  return anEntry(jobId, 10n * BigInt(count), { organizationId, keyId, budgets });
}

export function completion(job: ClaimedJob, budgets: readonly string[] = []): JobEnding {
  const outputs = [{ name: "0123456789abcdef0123456789abcdef.png", format: "png" as const }];
  return { status: "completed", outputs, error: null, entry: aCharge(job, 1, budgets) };
}

export const FAILURE: JobEnding = {
  status: "failed",
  outputs: [],
  error: { type: "upstream_error", message: "It failed." },
  entry: null,
};

export const CANCELLATION: JobEnding = { status: "cancelled", outputs: [], error: null, entry: null };
