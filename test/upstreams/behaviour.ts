/**
 * The response of a simulated vendor to one request. Tests queue a behaviour by `simulator.next`, or put a marker into
 * the prompt: `[[stall]]`, `[[rate-limited retryAfter=7]]`, `[[reply tokens=50 frameDelayMs=2]]`.
 */
export interface Behaviour {
  fault?: Fault;
  /** Number of a stream's frames, or of a complete response's bytes, before a fault in the middle. */
  after?: number;
  /** Value of the header `retry-after`. */
  retryAfter?: string;
  /** Status of the fault `error-status`. */
  status?: number;
  /** Text of the response. By default, generated words. */
  text?: string;
  /** Number of completion tokens, and of generated words. */
  tokens?: number;
  /** Number of content frames in a stream. By default, one for each token. */
  frames?: number;
  /** Milliseconds before the response begins. */
  delayMs?: number;
  /** Milliseconds before each frame of a stream, or before each byte of a slow drip. */
  frameDelayMs?: number;
  /** Number of returned images, whatever number was requested. */
  images?: number;
  /** Quality of pictures that were requested with `auto`. */
  quality?: string;
  /** Size of all pictures, such as `1024x1024`. */
  size?: string;
  /** Behaviours for the first picture's link, one for each request of this link. */
  linkBehaviours?: Behaviour[];
  /** Result of the submitted job. By default, success. */
  outcome?: string;
  /** Number of polls while the job is running. By default, 1. */
  polls?: number;
  /** Code of an error inside a stream. */
  code?: string;
  /** Name of the called tool. By default, the first tool. */
  tool?: string;
  /** Calls of a text model. By default, the model chooses calls itself. An empty list means no calls. */
  calls?: readonly Call[];
  /** Replaces the usage report. */
  usage?: unknown;
}

/** A call of a tool. A tool that takes free text has `input` as its only argument. */
export interface Call {
  name: string;
  arguments: Readonly<Record<string, unknown>>;
}

export const FAULTS = [
  // Faults in place of a response.
  "reset-before-headers",
  "close-before-headers",
  "stall",
  "garbage",
  // Responses of a wrong kind.
  "html",
  "empty",
  "redirect",
  "flood",
  "gzip-bomb",
  // Errors of the vendor.
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
  // Transport faults and encodings of correct responses, complete or streamed.
  "truncated",
  "reset-midway",
  "close-midway",
  "stall-midway",
  "slow-drip",
  "one-byte",
  "gzip",
  "br",
  // Missing, wrong or repeated usage reports in correct responses.
  "no-usage",
  "usage-null",
  "usage-strings",
  "usage-negative",
  "usage-huge",
  "usage-float",
  "usage-twice",
  // Text responses with unusual content, frames or endings.
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
  // Image responses with missing or unusual content.
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

/** Returns the behaviour of the first marker in a prompt, or undefined. Throws for an unknown fault. */
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
