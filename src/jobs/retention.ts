import type { BlobStore } from "../gateway/delivery/stored-blobs.ts";
import type { JobStore } from "./ports.ts";
import type { WebhookQueue } from "./webhook-ports.ts";
import { removeBlobs } from "./stored-request.ts";

/** Maximum number of rows in one transaction. It is small, so that requests do not wait for the transaction. */
const BATCH = 50;
const DAY_MS = 24 * 60 * 60_000;
/** Time from a job's creation to the removal of its tombstone (the row that remains after its outputs are deleted). */
const TOMBSTONE_MS = 30 * DAY_MS;

/**
 * Ends queued jobs whose deadline has passed, deletes outputs whose retention has ended, and removes old tombstones
 * (rows without outputs) and old webhook messages. `retentionDays` is the retention of delivered images.
 */
export async function sweepJobs(
  { jobs, webhooks }: { jobs: JobStore; webhooks: WebhookQueue },
  blobs: BlobStore,
  retentionDays: number,
): Promise<void> {
  for (;;) {
    const { count, files } = await jobs.endOverdue(BATCH);
    await removeBlobs(blobs, files);
    if (count < BATCH) break;
  }
  for (;;) {
    const { count, names } = await jobs.expire(retentionDays * DAY_MS, BATCH);
    await removeBlobs(blobs, names);
    if (count < BATCH) break;
  }
  const removeAfterMs = Math.max(TOMBSTONE_MS, retentionDays * DAY_MS);
  while ((await jobs.remove(removeAfterMs, BATCH)) === BATCH);
  while ((await webhooks.remove(removeAfterMs, BATCH)) === BATCH);
}
