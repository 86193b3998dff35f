import type { Nanos } from "../lib/money.ts";
import type { StoredImage } from "./image.ts";
import type { Attempt } from "./ledger.ts";
import type { RequestContent } from "./request-content.ts";
import type { RequestTrace } from "./trace.ts";
import type { Usage } from "./usage.ts";

/** The record of one request. Listeners (log, metrics) get the record after the request's end. */
export interface RequestEvent {
  /** The gateway's own id for the request. */
  id: string;
  /** The caller's `X-Request-Id` if it is usable, else `id`. */
  requestId: string;
  /** Id of the request's ledger entry; null when nothing was charged. */
  ledgerId: string | null;
  /** Trace id of the caller's `traceparent` header (W3C Trace Context). */
  traceId: string | null;
  /** Spans of the request while traces are exported; null otherwise. */
  trace: RequestTrace | null;
  /** Name of the route, from a fixed set, such as `chat` or `images.generations`; `none` when no route was found. */
  route: string;
  method: string;
  /** Path without the query. */
  path: string;
  /** The caller's IP address if the status is 401, 403, 404 or 405; otherwise null. */
  address: string | null;
  status: number;
  /** Error code of a failed request; null for a successful request. */
  code: string | null;
  /** The message to the caller of a failed request; null for a successful one, or when the client disconnected. */
  message: string | null;
  /** Unix milliseconds at which the request began. */
  at: number;
  /** Monotonic milliseconds at which the request began. */
  startedAt: number;
  durationMs: number;
  /** Milliseconds until the first byte of a stream; null when there is no stream. */
  firstByteMs: number | null;
  organizationId: string | null;
  keyId: string | null;
  /** `playground/` and the name of the member who sent the request in the console; null for a key's holder. */
  source: string | null;
  /** Id of the requested model; null when no such model exists or the name was not read. */
  model: string | null;
  /** The requested name, if the request could not use a model of this name; otherwise null. */
  askedModel: string | null;
  /** The caller's `user-agent` header. */
  client: string | null;
  /** The pattern that the model was derived from; null when the model is declared by its own id. */
  modelPattern: string | null;
  channel: string | null;
  isStream: boolean;
  usage: Usage | null;
  /** Number of pictures beyond the requested number. They are neither delivered nor billed. */
  surplus: number;
  amount: Nanos;
  /** Currency of the amount; null when nothing was charged. */
  currency: string | null;
  attempts: Attempt[];
  /** Delivered pictures that were stored. */
  pictures: readonly StoredImage[];
  /** Prompt and reply; null unless the organization logs prompts and the request was admitted. */
  content: RequestContent | null;
  /** The reason for a failure, for operators, without content of the caller. */
  cause: unknown;
}

/** Receives the record of each request after the request's end. Must not throw. */
export type RequestListener = (event: RequestEvent) => void;
