import type { JobStatus } from "../../../domain/job.ts";
import { sleep, untilAborted } from "../../../lib/waiting.ts";
import { readBody } from "../../api/public.ts";
import { ownPath } from "../images/picture-links.ts";
import { callGateway, GatewayFailure, requestIdOf, type GatewayCall } from "./gateway.ts";
import { newLocalId } from "./local-id.ts";

/** One request for pictures and its state. The history stores both in this form. */
export interface PlaygroundRun {
  id: string;
  model: string;
  state: "running" | "done" | "failed" | "cancelled";
  /** Unix milliseconds. */
  startedAt: number;
  tookMs: number | null;
  requestId: string | null;
  job: { id: string; progress: number; status: JobStatus } | null;
  /** Links of this origin, or `data:` URLs when the user requested only base64. */
  pictures: readonly string[];
  /** The options that took effect. A job does not report its options. */
  facts: { size: string; quality: string | null; format: string; background: string } | null;
  /** A text such as `2/4` when there are fewer pictures than requested; null otherwise, and for a job. */
  degraded: string | null;
  failure: { code: string; message: string } | null;
}

type Change = (some: Partial<PlaygroundRun>) => void;

export function newRun(model: string): PlaygroundRun {
  return {
    id: newLocalId(),
    model,
    state: "running",
    startedAt: Date.now(),
    tookMs: null,
    requestId: null,
    job: null,
    pictures: [],
    facts: null,
    degraded: null,
    failure: null,
  };
}

interface Reports {
  /** Aborted when the user cancels the request. */
  signal: AbortSignal;
  /**
   * Aborted when the user leaves the page. The gateway then continues a job, so the job stays `running` in the history.
   */
  left: AbortSignal;
  onChange: Change;
}

/** Sends a request for pictures. Reports its state until it has ended. Never throws. */
export async function runImages(
  keyId: string,
  run: PlaygroundRun,
  call: GatewayCall,
  reports: Reports,
): Promise<void> {
  const { signal, left, onChange } = reports;
  await settled(run, reports, async () => {
    const response = await callGateway(keyId, call, signal);
    if (call.path !== "/api/jobs") return onChange(await readPictures(response));
    const job = await readBody<PublishedJob>(response);
    onChange({ requestId: requestIdOf(response), ...changeOf(job) });
    await follow(keyId, job.id, AbortSignal.any([signal, left]), onChange);
  });
}

/** Reports the state of a job that was already submitted. Never throws. */
export async function resumeJob(
  keyId: string,
  run: PlaygroundRun,
  reports: Pick<Reports, "left" | "onChange">,
): Promise<void> {
  await settled(run, reports, () => follow(keyId, run.job?.id ?? "", reports.left, reports.onChange));
}

/** Cancels a job if that is still possible. `follow` reports how the job ended. */
export async function cancelJob(keyId: string, id: string): Promise<void> {
  await callGateway(keyId, { method: "POST", path: `/api/jobs/${encodeURIComponent(id)}/cancel` });
}

async function settled(
  run: PlaygroundRun,
  { left, onChange }: Pick<Reports, "left" | "onChange">,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (left.aborted && error === left.reason) return;
    const isCancelled = error instanceof DOMException && error.name === "AbortError";
    const { code = "", requestId = null } = error instanceof GatewayFailure ? error : {};
    const message = error instanceof Error ? error.message : String(error);
    if (isCancelled) onChange({ state: "cancelled" });
    else onChange({ state: "failed", failure: { code, message }, ...(requestId !== null && { requestId }) });
  }
  onChange({ tookMs: Date.now() - run.startedAt });
}

interface PublishedImages {
  size: string;
  quality?: string;
  output_format: string;
  background: string;
  data: { url?: string; b64_json?: string }[];
}

async function readPictures(response: Response): Promise<Partial<PlaygroundRun>> {
  const {
    data,
    size,
    quality,
    output_format: format,
    background,
  } = await readBody<PublishedImages>(response);
  return {
    state: "done",
    requestId: requestIdOf(response),
    degraded: response.headers.get("x-image-count-degraded"),
    facts: { size, quality: quality ?? null, format, background },
    pictures: data.map(({ url, b64_json: base64 = "" }) =>
      url === undefined ? `data:image/${format};base64,${base64}` : ownPath(url),
    ),
  };
}

interface PublishedJob {
  id: string;
  status: JobStatus;
  progress: number;
  outputs: { url: string }[];
  execution_error: { type: string; message: string } | null;
}

const STATES = {
  pending: "running",
  in_progress: "running",
  completed: "done",
  failed: "failed",
  cancelled: "cancelled",
  expired: "done",
} as const satisfies Record<JobStatus, PlaygroundRun["state"]>;

function changeOf(job: PublishedJob): Partial<PlaygroundRun> {
  const { id, status, progress, outputs, execution_error: error } = job;
  return {
    state: STATES[status],
    job: { id, progress, status },
    pictures: outputs.map(({ url }) => ownPath(url)),
    failure: error && { code: error.type, message: error.message },
  };
}

const POLL_MS = 1_000;

/** Reports the state of a job until it has ended or the signal aborts. */
async function follow(keyId: string, id: string, signal: AbortSignal, onChange: Change): Promise<void> {
  const path = `/api/jobs/${encodeURIComponent(id)}`;
  for (;;) {
    const response = await callGateway(keyId, { method: "GET", path }, signal);
    const change = changeOf(await readBody<PublishedJob>(response));
    onChange(change);
    if (change.state !== "running") return;
    await sleep(POLL_MS, signal);
    await untilVisible(signal);
  }
}

/** Waits until the page is visible, so that a hidden page does not poll. */
async function untilVisible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  document.addEventListener("visibilitychange", () => resolve(), { once: true });
  await untilAborted(promise, signal);
}
