/**
 * How a simulated vendor shall answer one request. A plan is queued with `simulator.next` or travels in the prompt
 * as a marker: `[[stall]]`, `[[rate-limited retryAfter=7]]`, `[[answer tokens=50 frameDelayMs=2]]`.
 */
export interface Plan {
  fault?: Fault;
  /** Frames of a stream, or bytes of a whole answer, that are sent before a fault in the middle strikes. */
  after?: number;
  /** Value of the header `retry-after`. */
  retryAfter?: string;
  /** Status of `error-status`. */
  status?: number;
  /** The answer's text; words are made up when it is absent. */
  text?: string;
  /** Completion tokens, which are also the made-up words. */
  tokens?: number;
  /** Content frames of a stream; one for each token when absent. */
  frames?: number;
  /** Wait before the answer begins. */
  delayMs?: number;
  /** Wait before each frame of a stream, or each slice of a slow drip. */
  frameDelayMs?: number;
  /** Images to give, whatever was asked. */
  images?: number;
  /** The quality that a request for `auto` gets. */
  quality?: string;
  /** The size that every request gets, as `1024x1024`. */
  size?: string;
  /** How the first of the `links` is answered, one plan for each request of it. */
  linked?: Plan[];
  /** How the job ends that this request hands in; well when absent. */
  fate?: string;
  /** Looks at that job that find it running; one when absent. */
  looks?: number;
  /** Replaces the usage report. */
  usage?: unknown;
}

export const FAULTS = [
  // Before any answer.
  "reset-before-headers",
  "close-before-headers",
  "stall",
  "garbage",
  // A wrong answer.
  "html",
  "empty",
  "redirect",
  "flood",
  "gzip-bomb",
  // An error, by status.
  "rate-limited",
  "error-status",
  "insufficient-quota",
  "unauthorized",
  "forbidden",
  "unknown-model",
  "context-length",
  "content-refused",
  "echo-authorization",
  "error-in-200",
  // A right answer, carried badly. Whole or as a stream.
  "truncated",
  "reset-midway",
  "close-midway",
  "stall-midway",
  "slow-drip",
  "one-byte",
  "gzip",
  // A right answer with a wrong report.
  "no-usage",
  "usage-null",
  "usage-strings",
  "usage-negative",
  "usage-huge",
  "usage-float",
  "usage-twice",
  // A chat answer of the wrong shape.
  "choices-null",
  "choices-missing",
  "choices-empty",
  "done-only",
  "no-done",
  "done-twice",
  "chunk-after-done",
  "error-frame-first",
  "error-frame-later",
  "json-for-stream",
  "error-json-for-stream",
  "crlf",
  "cr",
  "comments",
  "no-space",
  // An images answer of the wrong shape.
  "no-images",
  "bad-base64",
  "escaped-slashes",
  "failed-items",
  "links",
] as const;

export type Fault = (typeof FAULTS)[number];

const MARKER = /\[\[([a-z0-9-]+)((?: [a-zA-Z]+=[^\s\]]+)*)\]\]/;
const NUMBERS: ReadonlySet<string> = new Set([
  "after",
  "status",
  "tokens",
  "frames",
  "delayMs",
  "frameDelayMs",
  "images",
]);

/** The plan of the first marker in a prompt; undefined without one. Throws on a word that is no fault. */
export function readMarker(prompt: string): Plan | undefined {
  const match = MARKER.exec(prompt);
  if (!match) return undefined;
  const [, name = "", settings = ""] = match;
  const fault = FAULTS.find((fault) => fault === name);
  if (!fault && name !== "answer") throw new Error(`no fault is called ${name}`);
  const plan: Record<string, unknown> = { fault };
  for (const setting of settings.trim().split(" ").filter(Boolean)) {
    const [key = "", value = ""] = setting.split("=");
    plan[key] = NUMBERS.has(key) ? Number(value) : value;
  }
  return plan;
}
