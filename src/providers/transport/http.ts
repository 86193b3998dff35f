import { UpstreamError } from "../../domain/upstream-error.ts";
import { JsonBoundError, parseBounded } from "../../lib/parse-json.ts";
import type { ByteStream } from "../../lib/byte-stream.ts";
import { type Cancellation, signalOf, yieldAfter, yieldToEventLoop } from "../../lib/waiting.ts";
import { GrowingBuffer } from "../../lib/growing-buffer.ts";
import { HttpClient } from "../../lib/http-client/http-client.ts";
import { HttpError } from "../../lib/http-client/http-error.ts";
import { SlicedStream } from "../../lib/sliced-stream.ts";
import { fetchGuarded, presentGuard, useProxies } from "./network.ts";

const client = new HttpClient();
let sendText: (request: TextRequest) => Promise<VendorResponse> = (request) => {
  const guard = presentGuard();
  return client.post(guard ? { ...request, guard } : request);
};

/** Sends all later calls through the proxy of the environment variables. Only the runtime's client supports proxies. */
export function callThroughProxies(): void {
  useProxies();
  sendText = (request) => fetchGuarded(request.url, fetchOptions("POST", request));
}

/** A response of `post` or `send`. Headers are read by names in lower case. */
export interface VendorResponse {
  status: number;
  headers: ResponseHeaders;
  body: ByteStream | null;
  text(): Promise<string>;
  /** Returns the whole text if it has already arrived, otherwise null; absent if the client cannot tell. */
  arrivedText?(): string | null;
}

export type ResponseHeaders = Pick<Headers, "get" | "has">;

/**
 * Calls a text model. Returns a successful response or throws an `UpstreamError`. Never follows redirects, so that only
 * the configured address gets the credential. When `signal` aborts, throws the signal's reason.
 */
export function post(request: TextRequest, classify: Classify): Promise<VendorResponse> {
  return succeed(sendText(request), request.signal, classify);
}

/**
 * Makes a call that `post` cannot make, for example a call without a body. Uses the runtime's client, which accepts
 * files and bodies that are produced while they are sent. Otherwise behaves like `post`.
 */
export function send(
  method: "POST" | "GET" | "PUT",
  request: VendorRequest,
  classify: Classify,
): Promise<Response> {
  return succeed(fetchGuarded(request.url, fetchOptions(method, request)), request.signal, classify);
}

async function succeed<R extends VendorResponse>(
  called: Promise<R>,
  signal: Cancellation,
  classify: Classify,
): Promise<R> {
  let response: R;
  try {
    response = await called;
  } catch (error) {
    throw signal.aborted ? signal.reason : connectionError(error);
  }
  if (response.status >= 200 && response.status < 300) {
    if (isHtml(response)) throw await discard(response, "responded with a web page");
    return response;
  }
  if (response.status >= 300 && response.status < 400)
    throw await discard(response, "responded with a redirect");
  const error = classify(response, await readErrorText(response, signal));
  error.requestId = requestIdOf(response);
  throw error;
}

/** Returns the request's headers. While traces are exported, they include the request's trace. */
function tracedHeaders({ headers, signal }: VendorRequest): Readonly<Record<string, string>> {
  const { traceparent } = signal;
  return traceparent === undefined ? headers : { ...headers, traceparent };
}

function fetchOptions(method: string, request: VendorRequest): BunFetchRequestInit {
  const { body, signal } = request;
  const headers = tracedHeaders(request);
  // By default the runtime ends a call after five minutes of silence. Only the deadlines in `signal` may end a call.
  return { method, headers, body, signal: signalOf(signal), redirect: "manual", timeout: false };
}

/** A request with a text as its body. */
export interface TextRequest extends VendorRequest {
  body: string;
}

export interface VendorRequest {
  url: string;
  /** Headers, which all calls of a channel may share. */
  headers: Readonly<Record<string, string>>;
  body?: NonNullable<BunFetchRequestInit["body"]>;
  /** Aborts when the client disconnects or a deadline passes. A call has no other timeout. */
  signal: Cancellation;
}

/** Returns the error for a response that failed or contains an error. `bodyText` may be only the start of the body. */
export type Classify = (
  response: Pick<VendorResponse, "status" | "headers">,
  bodyText: string,
) => UpstreamError;

/** Maximum bytes of a whole text response. */
export const MAX_TEXT_BYTES = 32 * 1024 * 1024;
/** Maximum bytes of a response that contains images. */
export const MAX_IMAGE_BYTES = 256 * 1024 * 1024;

const decoder = new TextDecoder();
const MAX_ERROR_BYTES = 64 * 1024;
/** Number of body bytes that are processed before other work of the event loop may run. */
const TURN_BYTES = 1024 * 1024;

/** Codes of errors that occur before the request is sent, so that the vendor cannot have done any work. */
const NEVER_SENT: ReadonlySet<unknown> = new Set([
  "AddressRefused",
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ConnectionRefused",
  "FailedToOpenSocket",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "CERT_HAS_EXPIRED",
  "ERR_PROXY_TUNNEL",
]);

/** Codes of errors for a response that is not valid HTTP or has an invalid encoding. */
const NOT_HTTP: ReadonlySet<unknown> = new Set([
  "InvalidHTTPResponse",
  "ZlibError",
  "BrotliDecompressionError",
]);

/** Reads a whole text. Throws `broken` when it is too long, empty or incomplete. Returns a promise only to wait. */
export function readText(
  response: VendorResponse,
  maxBytes: number,
  signal: Cancellation,
): string | Promise<string> {
  const arrived = isKnownToFit(response, maxBytes) ? response.arrivedText?.() : null;
  if (!arrived) return readLater(response, maxBytes, signal);
  return yieldAfter(arrived)?.then(() => arrived) ?? arrived;
}

async function readLater(response: VendorResponse, maxBytes: number, signal: Cancellation): Promise<string> {
  let text: string;
  try {
    text = await (isKnownToFit(response, maxBytes) ? response.text() : collect(response, maxBytes, signal));
  } catch (error) {
    throw error instanceof UpstreamError ? error : readingError(error, signal);
  }
  if (text === "") throw brokenResponse("gave an empty response");
  await yieldAfter(text);
  return text;
}

/** True when the body is known to fit. The decoded size of a compressed body is not known. */
function isKnownToFit({ headers }: VendorResponse, maxBytes: number): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= maxBytes && !headers.has("content-encoding");
}

async function collect(response: VendorResponse, maxBytes: number, signal: Cancellation): Promise<string> {
  const whole = new GrowingBuffer();
  for await (const piece of readPieces(response, maxBytes, signal)) whole.append(piece);
  return decoder.decode(whole.take());
}

/** Yields a body in pieces. Throws `broken` when it is too long or incomplete. If left early, closes the connection. */
export async function* readPieces(
  response: VendorResponse,
  maxBytes: number,
  signal: Cancellation,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = response.body?.getReader();
  if (!reader) return;
  let received = 0;
  let sinceTurn = 0;
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw readingError(error, signal);
      });
      isOver = done;
      if (done || !value) return;
      received += value.byteLength;
      if (received > maxBytes) throw brokenResponse(`gave more than ${maxBytes} bytes`);
      sinceTurn += value.byteLength;
      // Pieces of a compressed body may arrive so fast that no other work could run.
      if (sinceTurn > TURN_BYTES) {
        sinceTurn = 0;
        await yieldToEventLoop();
      }
      if (value.byteLength > 0) yield value;
    }
  } finally {
    // If the body has failed, `cancel` rejects. The error is ignored, because nothing is left to close.
    if (!isOver) reader.cancel().catch(() => {});
  }
}

function readingError(error: unknown, signal: Cancellation): unknown {
  return signal.aborted ? signal.reason : brokenResponse("broke off its response", error);
}

/** Parses JSON. Throws `broken` when the text is incomplete, is not JSON, or exceeds the limits on JSON. */
export function parseResponse(text: string): unknown {
  try {
    return parseBounded(text);
  } catch (error) {
    if (error instanceof JsonBoundError) throw brokenResponse(`gave a response with ${error.message}`, error);
    throw brokenResponse("gave a response that is no JSON", error);
  }
}

/**
 * Returns the error for a successful response that lacks the expected content. The error is ambiguous, because the
 * vendor may have done the work and may charge for it.
 */
export function brokenResponse(what: string, cause?: unknown): UpstreamError {
  return new UpstreamError("broken", `the vendor ${what}`, { isAmbiguous: true, cause });
}

function connectionError(error: unknown): UpstreamError {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const kind = error instanceof HttpError ? error.kind : null;
  if (kind === "invalid" || NOT_HTTP.has(code))
    return brokenResponse("gave a response that is no HTTP", error);
  const wasSent = kind !== "unsent" && !NEVER_SENT.has(code);
  return new UpstreamError("unreachable", `no response from the vendor (${String(code)})`, {
    isAmbiguous: wasSent,
    cause: error,
  });
}

/** Closes a response without reading its body. Returns the error to throw. */
async function discard(response: VendorResponse, what: string): Promise<UpstreamError> {
  await response.body?.cancel().catch(() => {});
  return new UpstreamError("broken", `the vendor ${what}`, { status: response.status });
}

/** Returns the start of an error's body. If the body breaks off, returns the part that has arrived. */
async function readErrorText(response: VendorResponse, signal: Cancellation): Promise<string> {
  const start = new GrowingBuffer();
  try {
    for await (const piece of readPieces(response, Number.POSITIVE_INFINITY, signal)) {
      start.append(piece);
      if (start.length >= MAX_ERROR_BYTES) break;
    }
  } catch {
    if (signal.aborted) throw signal.reason;
  }
  return start.take().toString("utf8", 0, MAX_ERROR_BYTES);
}

/** Returns the events of a response as bytes; null for a whole JSON response to a request for a stream. */
export function openEvents(response: VendorResponse): ByteStream | null {
  const { headers, body } = response;
  if (headers.get("content-type")?.startsWith("application/json")) return null;
  if (!body || headers.get("content-length") === "0") throw brokenResponse("gave an empty response");
  return new SlicedStream(body);
}

function isHtml(response: VendorResponse): boolean {
  return response.headers.get("content-type")?.startsWith("text/html") ?? false;
}

/** Headers with the vendor's own id of a call: OpenAI and most others, Anthropic, Azure, AWS, Volcengine. */
const REQUEST_ID_HEADERS = [
  "x-request-id",
  "request-id",
  "apim-request-id",
  "x-amzn-requestid",
  "x-tt-logid",
];

/** Returns the vendor's own id of a call, which the vendor's support needs. */
export function requestIdOf({ headers }: { headers: Pick<Headers, "get"> }): string | undefined {
  for (const name of REQUEST_ID_HEADERS) {
    const id = headers.get(name);
    if (id !== null) return /^[\w.:/+=-]{1,128}$/.test(id) ? id : undefined;
  }
  return undefined;
}
