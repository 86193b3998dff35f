import { newLocalId } from "./local-id.ts";
import { ownPath } from "../images/picture-links.ts";
import { callGateway, GatewayFailure, requestIdOf, type GatewayCall } from "./gateway.ts";

/** One request for pictures and what has become of it; it is kept in the history as it is. */
export interface ImageRun {
  id: string;
  model: string;
  state: "running" | "done" | "failed" | "cancelled";
  /** Unix milliseconds. */
  startedAt: number;
  tookMs: number | null;
  requestId: string | null;
  job: { id: string; progress: number; message: string } | null;
  /** Links of this origin, or `data:` URLs where base64 alone was asked for. */
  pictures: readonly string[];
  /** What took effect; a job does not tell. */
  facts: { size: string; quality: string | null; format: string; background: string } | null;
  /** `2/4` where fewer pictures came than were asked for. */
  degraded: string | null;
  failure: { code: string; message: string } | null;
}

type Change = (some: Partial<ImageRun>) => void;

export function newRun(model: string): ImageRun {
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

/** Sends a request for pictures and reports what becomes of it, to its end. Never throws. */
export async function runImages(
  keyId: string,
  run: ImageRun,
  call: GatewayCall,
  { signal, onChange }: { signal: AbortSignal; onChange: Change },
): Promise<void> {
  await settled(run, onChange, async () => {
    const response = await callGateway(keyId, call, signal);
    if (call.path !== "/api/jobs") return onChange(await readPictures(response));
    const job = (await response.json()) as WireJob;
    onChange({ requestId: requestIdOf(response), ...changeOf(job) });
    await follow(keyId, job.id, onChange);
  });
}

/** Goes on reporting a job that was submitted before. Never throws. */
export async function resumeJob(keyId: string, run: ImageRun, onChange: Change): Promise<void> {
  await settled(run, onChange, () => follow(keyId, run.job?.id ?? "", onChange));
}

/** Cancels a job as far as it can be; its end is reported by whoever follows it. */
export async function cancelJob(keyId: string, id: string): Promise<void> {
  await callGateway(keyId, { method: "POST", path: `/api/jobs/${encodeURIComponent(id)}/cancel` });
}

async function settled(run: ImageRun, onChange: Change, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isCancelled = error instanceof DOMException && error.name === "AbortError";
    const { code = "", requestId = null } = error instanceof GatewayFailure ? error : {};
    const message = error instanceof Error ? error.message : String(error);
    if (isCancelled) onChange({ state: "cancelled" });
    else onChange({ state: "failed", failure: { code, message }, ...(requestId !== null && { requestId }) });
  }
  onChange({ tookMs: Date.now() - run.startedAt });
}

interface WireImages {
  size: string;
  quality?: string;
  output_format: string;
  background: string;
  data: { url?: string; b64_json?: string }[];
}

async function readPictures(response: Response): Promise<Partial<ImageRun>> {
  const { data, size, quality, output_format: format, background } = (await response.json()) as WireImages;
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

interface WireJob {
  id: string;
  status: "pending" | "in_progress" | "completed" | "failed" | "cancelled" | "expired";
  progress: number;
  progress_message: string;
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
} as const satisfies Record<WireJob["status"], ImageRun["state"]>;

function changeOf(job: WireJob): Partial<ImageRun> {
  const { id, status, progress, progress_message: message, outputs, execution_error: error } = job;
  return {
    state: STATES[status],
    job: { id, progress, message },
    pictures: outputs.map(({ url }) => ownPath(url)),
    failure: error && { code: error.type, message: error.message },
  };
}

const POLL_MS = 1_000;

async function follow(keyId: string, id: string, onChange: Change): Promise<void> {
  for (;;) {
    const path = `/api/jobs/${encodeURIComponent(id)}`;
    const response = await callGateway(keyId, { method: "GET", path });
    const change = changeOf((await response.json()) as WireJob);
    onChange(change);
    if (change.state !== "running") return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    await untilVisible();
  }
}

/** Nobody looks at a hidden page, so it asks for nothing. */
async function untilVisible(): Promise<void> {
  if (!document.hidden) return;
  await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}
