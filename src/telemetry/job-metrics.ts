import type { JobQueue } from "../jobs/ports.ts";
import { Counters, Histograms, labelsOf, type Sample, TOTAL } from "./counters.ts";
import { counter, gauge, histogram, type MetricFamily } from "./metrics.ts";
import { METRICS } from "./metrics.table.ts";

/** Metrics of asynchronous jobs. The queues are of the whole database; the other numbers are of this process. */
export class JobMetrics {
  readonly #ends = new Counters(METRICS.gateway_jobs_ended_total.labels);
  readonly #pickUps = new Histograms([]);
  #queues: readonly JobQueue[] = [];

  setQueues(queues: readonly JobQueue[]): void {
    this.#queues = queues;
  }

  /** Records the first claim of a job. `milliseconds` is the time since its submission. */
  pickedUp(milliseconds: number): void {
    this.#pickUps.observe(TOTAL, milliseconds / 1000);
  }

  ended({ status, error }: { status: string; error: { type: string } | null }): void {
    this.#ends.add([status, error?.type ?? "none"]);
  }

  families(): MetricFamily[] {
    const byOrganization = (value: (queue: JobQueue) => number): Sample[] =>
      this.#queues.map((queue) => [
        "",
        labelsOf(METRICS.gateway_jobs_queued.labels, [queue.organizationId]),
        value(queue),
      ]);
    return [
      gauge(
        "gateway_jobs_queued",
        byOrganization(({ queued }) => queued),
      ),
      gauge(
        "gateway_jobs_running",
        byOrganization(({ running }) => running),
      ),
      gauge(
        "gateway_jobs_oldest_seconds",
        byOrganization(({ oldestMs }) => oldestMs / 1000),
      ),
      counter("gateway_jobs_ended_total", this.#ends.samples()),
      histogram("gateway_job_pickup_seconds", this.#pickUps),
    ];
  }
}
