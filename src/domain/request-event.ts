import type { Nanos } from "../lib/money.ts";
import type { StoredImage } from "./delivered-image.ts";
import type { Attempt } from "./ledger.ts";
import type { RequestContent } from "./request-content.ts";
import type { Usage } from "./usage.ts";

/** The record of one request, given to the listeners (log, metrics) after its end. */
export interface RequestEvent {
  /** The gateway's own. */
  id: string;
  /** The caller's `X-Request-Id` where it sent a usable one, else `id`. */
  requestId: string;
  /** Id of its ledger entry; null when nothing was charged. */
  ledgerId: string | null;
  /** Of the caller's `traceparent` header (W3C Trace Context). */
  traceId: string | null;
  /** Route name, such as `chat` or `images.generations`; a closed set. `none` where no route was found. */
  route: string;
  method: string;
  /** Without the query. */
  path: string;
  /** The caller's address; only of requests that were refused for their key, address or path. */
  address: string | null;
  status: number;
  /** Error code when it did not succeed. */
  code: string | null;
  /** What the caller was told of a failure. */
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
  /** `playground/` and the name of the member who sent it in the console; null where the holder of the key did. */
  source: string | null;
  /** Id of a model that exists. */
  model: string | null;
  /** The pattern that the model was derived from; null where it is declared by its own id. */
  modelPattern: string | null;
  channel: string | null;
  isStream: boolean;
  usage: Usage | null;
  /** Pictures a vendor made beyond those requested; neither delivered nor billed. */
  surplus: number;
  amount: Nanos;
  /** Of the amount; null when nothing was charged. */
  currency: string | null;
  attempts: Attempt[];
  /** Delivered pictures that were stored. */
  pictures: readonly StoredImage[];
  /** What was said; null unless the organization has it logged. */
  content: RequestContent | null;
  /** The reason of a failure, for operators; never the caller's content. */
  cause: unknown;
}

/** Receives the record of each request after its end. Must not throw. */
export type RequestListener = (event: RequestEvent) => void;
