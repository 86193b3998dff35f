/**
 * How a simulated vendor responds to one request. A behaviour is queued with `simulator.next`, or is in the prompt as
 * a marker: `[[stall]]`, `[[rate-limited retryAfter=7]]`, `[[reply tokens=50 frameDelayMs=2]]`.
 */
export interface Behaviour {
  fault?: Fault;
  /** Frames of a stream, or bytes of a whole response, that are sent before a fault in the middle. */
  after?: number;
  /** Value of the header `retry-after`. */
  retryAfter?: string;
  /** Status of `error-status`. */
  status?: number;
  /** The response's text; generated words when absent. */
  text?: string;
  /** Completion tokens, which are also the generated words. */
  tokens?: number;
  /** Content frames of a stream; one for each token when absent. */
  frames?: number;
  /** Wait before the response begins. */
  delayMs?: number;
  /** Wait before each frame of a stream, or each byte of a slow drip. */
  frameDelayMs?: number;
  /** Images to return, whatever was requested. */
  images?: number;
  /** The quality that a request for `auto` gets. */
  quality?: string;
  /** The size that every request gets, as `1024x1024`. */
  size?: string;
  /** Behaviours of the first of the `links`, one for each request of it. */
  linkBehaviours?: Behaviour[];
  /** How the job of this submission ends; with success when absent. */
  outcome?: string;
  /** Number of polls that find the job running; one when absent. */
  polls?: number;
  /** Code of an error inside a stream. */
  code?: string;
  /** Name of the tool to call; the first one when absent. */
  tool?: string;
  /** What text models call, in place of what they would choose; none when empty. */
  calls?: readonly Call[];
  /** Replaces the usage report. */
  usage?: unknown;
}

/** A call of a tool; one of free text has `input` as its only argument. */
export interface Call {
  name: string;
  arguments: Readonly<Record<string, unknown>>;
}

export const FAULTS = [
  // Before any response byte.
  "reset-before-headers",
  "close-before-headers",
  "stall",
  "garbage",
  // A wrong response.
  "html",
  "empty",
  "redirect",
  "flood",
  "gzip-bomb",
  // An error, by status.
  "rate-limited",
  "error-status",
  "insufficient-quota",
  "spend-limit",
  "unauthorized",
  "forbidden",
  "unknown-model",
  "context-length",
  "content-refused",
  "echo-authorization",
  "error-in-200",
  // A right response, carried badly. Whole or as a stream.
  "truncated",
  "reset-midway",
  "close-midway",
  "stall-midway",
  "slow-drip",
  "one-byte",
  "gzip",
  "br",
  // A right response with a wrong report.
  "no-usage",
  "usage-null",
  "usage-strings",
  "usage-negative",
  "usage-huge",
  "usage-float",
  "usage-twice",
  // A chat response of the wrong shape.
  "choices-null",
  "choices-missing",
  "choices-empty",
  "done-only",
  "no-done",
  "done-twice",
  "chunk-after-done",
  "error-frame-first",
  "error-frame-later",
  "failed-frame-first",
  "failed-frame-later",
  "unknown-events",
  "json-for-stream",
  "error-json-for-stream",
  "crlf",
  "cr",
  "comments",
  "no-space",
  "no-names",
  "unknown-kinds",
  "damaged-frame",
  // An images response of the wrong shape.
  "no-images",
  "bad-base64",
  "data-url",
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

/** The behaviour of the first marker in a prompt; undefined without one. Throws on an unknown fault. */
export function readMarker(prompt: string): Behaviour | undefined {
  const match = MARKER.exec(prompt);
  if (!match) return undefined;
  const [, name = "", settings = ""] = match;
  const fault = FAULTS.find((fault) => fault === name);
  if (!fault && name !== "reply") throw new Error(`no fault is called ${name}`);
  const behaviour: Record<string, unknown> = { fault };
  for (const setting of settings.trim().split(" ").filter(Boolean)) {
    const [key = "", value = ""] = setting.split("=");
    behaviour[key] = NUMBERS.has(key) ? Number(value) : value;
  }
  return behaviour;
}
