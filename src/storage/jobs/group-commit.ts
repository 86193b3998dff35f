import type { NewJob, Submission } from "../../jobs/ports.ts";
import { inBatches } from "../database/in-batches.ts";
import type { Database } from "../database/sql.ts";
import { submitJobs } from "./submit.ts";

/** Timeout of a submission. It is shorter than other timeouts, because a caller's request waits for the submission. */
const SUBMIT_TIMEOUT_MS = 1_500;

/**
 * Submits jobs that arrive together in one transaction; see `JobStore.submit`. Calls `notify` after each transaction
 * that has accepted jobs.
 */
export function groupCommit(database: Database, notify: () => void): (job: NewJob) => Promise<Submission> {
  const persist = groupedPersist(database);
  return inBatches<NewJob, Submission>({
    // Each organization has batches of its own, so no job waits for a lock of another organization.
    laneOf: ({ organizationId }) => organizationId,
    async run(jobs) {
      const results = await database.begin((sql) => submitJobs(database.kind, sql, jobs), SUBMIT_TIMEOUT_MS);
      // The whole batch waits for the disk, so that more jobs gather meanwhile. A job of an earlier submission may have
      // been committed only just now, so its response must wait, too.
      if (results.some((result) => "job" in result)) await persist();
      if (results.some(({ kind }) => kind === "accepted")) notify();
      return results;
    },
  });
}

/**
 * Waits for the disk once for all callers that wait at the same time. A wait covers everything that was committed
 * before the wait began.
 */
function groupedPersist(database: Database): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    running = database.persist().finally(() => {
      running = null;
    });
    return running;
  };
  return () => {
    if (!running) return start();
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null;
        return start();
      });
    return next;
  };
}
