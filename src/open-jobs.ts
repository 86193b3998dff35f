import { join } from "node:path";
import type { ImageCore } from "./gateway/images.ts";
import { eventOfRun, type JobObserver } from "./jobs/observer.ts";
import { sweepJobs } from "./jobs/retention.ts";
import type { JobCore } from "./jobs/submit.ts";
import { startWebhooks, type WebhookOptions } from "./jobs/webhooks.ts";
import { JobWorker } from "./jobs/worker.ts";
import type { SafeFetch } from "./lib/safe-fetch.ts";
import { createSpool } from "./lib/spool.ts";
import { every } from "./lib/waiting.ts";
import type { LiveSettings } from "./live-settings.ts";
import type { Storage } from "./storage/index.ts";
import type { RequestListener } from "./gateway/ports.ts";
import type { JobMetrics } from "./telemetry/job-metrics.ts";
import type { SystemLog } from "./telemetry/log.ts";

interface JobParts {
  live: LiveSettings;
  storage: Storage;
  core: ImageCore;
  safeFetch: SafeFetch;
  processId: string;
  metrics: JobMetrics;
  listeners: readonly RequestListener[];
  onProblem: SystemLog;
}

/** Jobs of this process: what the server needs of them, and the worker that runs them. */
export interface OpenedJobs {
  forServer: Omit<JobCore, keyof ImageCore>;
  /** Claims no more jobs; those that run after so many milliseconds are handed over. */
  stop(graceMs: number): Promise<void>;
}

const SWEEP_MS = 15_000;
const QUEUES_MS = 5_000;

/** Starts the worker of this process, unless it is to run no jobs, and the sweep of old ones. */
export function openJobs(parts: JobParts): OpenedJobs {
  const { live, storage, core, onProblem, metrics } = parts;
  const { jobs } = storage;
  const { concurrency } = live.current.jobs;
  const worker = concurrency === 0 ? null : openWorker(parts, concurrency);
  worker?.start();
  const background = [
    ...(worker === null ? [] : [startWebhooks(webhookOptions(parts))]),
    every(
      SWEEP_MS,
      () => sweepJobs(storage, core.blobs, live.current.blobs.retentionDays),
      (error) => onProblem("old jobs were not removed", error),
    ),
    every(
      QUEUES_MS,
      async () => metrics.setQueues(await jobs.queues()),
      () => {},
    ),
  ];
  return {
    forServer: {
      jobs,
      webhooks: storage.webhooks,
      deadlineMs: () => live.current.jobs.deadlineMs,
      wake: () => worker?.wake(),
      stopJob: (id) => worker?.cancel(id),
    },
    async stop(graceMs) {
      for (const work of background) void work.stop();
      await worker?.stop(graceMs);
    },
  };
}

function webhookOptions({ live, storage, core, safeFetch, onProblem }: JobParts): WebhookOptions {
  return {
    queue: storage.webhooks,
    safeFetch,
    links: core.links,
    publicUrl: live.current.server.publicUrl,
    linkHoursOf: (id) => core.snapshot.directory().organizations.get(id)?.settings.linkHours ?? null,
    now: () => core.clock.now(),
    onProblem,
  };
}

function openWorker(
  { live, storage, core, processId, metrics, listeners, onProblem }: JobParts,
  concurrency: number,
): JobWorker {
  const directory = join(live.current.dataDirectory, "spool");
  const observer: JobObserver = {
    pickedUp: (milliseconds) => metrics.pickedUp(milliseconds),
    ended(run) {
      metrics.ended(run.ending);
      for (const listener of listeners) listener(eventOfRun(run));
    },
  };
  // The server aborts calls of requests that outlast its drain time; jobs are handed over instead.
  const failover = { ...core.failover, calls: new Set<never>() };
  return new JobWorker({
    core: { ...core, failover, jobs: storage.jobs },
    worker: processId,
    concurrency,
    createSpool: () => createSpool(directory),
    observer,
    onProblem,
  });
}
