import { until, type CallInit, type TestGateway } from "./gateway.ts";

/** A job as the interface returns it. */
export interface WireJob {
  id: string;
  status: string;
  model: string;
  create_time: number;
  started_at: number | null;
  completed_at: number | null;
  progress: number;
  progress_message: string;
  outputs_count: number;
  outputs: { url: string; mime_type: string }[];
  execution_error: { type: string; message: string } | null;
}

/** Submits a job. Throws unless it is accepted. */
export async function submit(gateway: TestGateway, body: object, init: CallInit = {}): Promise<WireJob> {
  const response = await gateway.call("/api/jobs", { body, ...init });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as WireJob;
}

export async function look(gateway: TestGateway, id: string, query = ""): Promise<WireJob> {
  return (await (await gateway.call(`/api/jobs/${id}${query}`)).json()) as WireJob;
}

/** Polls until the job has one of the given states. By default, waits for a final state. */
export function untilStatus(
  gateway: TestGateway,
  id: string,
  statuses: readonly string[] = ["completed", "failed", "cancelled", "expired"],
  timeoutMs = 15_000,
): Promise<WireJob> {
  return until(
    `job ${id} to be ${statuses.join(" or ")}`,
    async () => {
      const job = await look(gateway, id);
      return statuses.includes(job.status) ? job : undefined;
    },
    timeoutMs,
  );
}
