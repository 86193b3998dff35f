import type { Nanos } from "../lib/money.ts";
import type { StoredImage } from "./image.ts";
import type { Attempt } from "./ledger.ts";
import type { RequestContent } from "./request-content.ts";
import type { RequestTrace } from "./trace.ts";
import type { Usage } from "./usage.ts";

/** The record of one request, given to the listeners (log, metrics) after its end. */
export interface RequestEvent {
  /** The gateway's own id. */
  id: string;
  /** The caller's `X-Request-Id` if it was usable, else `id`. */
  requestId: string;
  /** Id of its ledger entry; null when nothing was charged. */
  ledgerId: string | null;
  /** Trace id of the caller's `traceparent` header (W3C Trace Context). */
  traceId: string | null;
  /** Its spans, while traces are exported. */
  trace: RequestTrace | null;
  /** Route name, such as `chat` or `images.generations`; a closed set. `none` when no route was found. */
  route: string;
  method: string;
  /** Path without the query. */
  path: string;
  /** The caller's address; only for requests that were refused for their key, address or path. */
  address: string | null;
  status: number;
  /** Error code of a failure. */
  code: string | null;
  /** The message to the caller of a failed request. */
  message: string | null;
  /** Unix milliseconds at which it began. */
  at: number;
  /** Monotonic milliseconds at which it began. */
  startedAt: number;
  durationMs: number;
  /** Milliseconds to the first byte of a stream. */
  firstByteMs: number | null;
  organizationId: string | null;
  keyId: string | null;
  /** `playground/` and the name of the member who sent it in the console; null for a request of the key's holder. */
  source: string | null;
  /** Id of a model that exists. */
  model: string | null;
  /** The name that the caller gave where no model has it; null where the request was not read. */
  askedModel: string | null;
  /** The caller's `user-agent`. */
  client: string | null;
  /** The pattern that the model was derived from; null when it is declared by its own id. */
  modelPattern: string | null;
  channel: string | null;
  isStream: boolean;
  usage: Usage | null;
  /** Pictures a vendor made beyond those requested; neither delivered nor billed. */
  surplus: number;
  amount: Nanos;
  /** Currency of the amount; null when nothing was charged. */
  currency: string | null;
  attempts: Attempt[];
  /** Delivered pictures that were stored. */
  pictures: readonly StoredImage[];
  /** Prompt and reply; null unless the organization logs them. */
  content: RequestContent | null;
  /** The reason of a failure, for operators; never the caller's content. */
  cause: unknown;
}

/** Receives the record of each request after its end. Must not throw. */
export type RequestListener = (event: RequestEvent) => void;
