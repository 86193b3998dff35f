import { UpstreamError } from "../../domain/upstream-error.ts";

/**
 * Every call of an adapter to its vendor: a POST that returns a response of success or throws an `UpstreamError`.
 * Redirects are never followed, so a credential goes nowhere but to the configured address. When `signal` aborts,
 * its own reason is thrown, unchanged.
 */
export function post(request: VendorRequest, classify: Classify): Promise<Response> {
  return send("POST", request, classify);
}

/** The same with any method, for instance to poll or cancel a job. */
export async function send(
  method: "POST" | "GET" | "PUT",
  request: VendorRequest,
  classify: Classify,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(request.url, fetchOptions(method, request));
  } catch (error) {
    throw request.signal.aborted ? request.signal.reason : connectionError(error);
  }
  if (response.status >= 200 && response.status < 300) {
    if (isHtml(response)) throw await discard(response, "responded with a web page");
    return response;
  }
  if (response.status >= 300 && response.status < 400)
    throw await discard(response, "responded with a redirect");
  const error = classify(response, await readErrorText(response, request.signal));
  error.requestId = requestIdOf(response);
  throw error;
}

/** Headers in which vendors return their id of a call: OpenAI and most others, Anthropic, Azure, AWS, Volcengine. */
const REQUEST_ID_HEADERS = [
  "x-request-id",
  "request-id",
  "apim-request-id",
  "x-amzn-requestid",
  "x-tt-logid",
];

/** The vendor's own id of a call, which its support asks for. */
export function requestIdOf({ headers }: Pick<Response, "headers">): string | undefined {
  for (const name of REQUEST_ID_HEADERS) {
    const id = headers.get(name);
    if (id !== null) return /^[\w.:/+=-]{1,128}$/.test(id) ? id : undefined;
  }
  return undefined;
}

function fetchOptions(method: string, { headers, body, signal }: VendorRequest): BunFetchRequestInit {
  // The runtime would end a call that is silent for five minutes; only the deadlines in `signal` apply.
  return { method, headers, body, signal, redirect: "manual", timeout: false };
}

export interface VendorRequest {
  url: string;
  /** Prepared once for a channel; `fetch` copies them. */
  headers: Readonly<Record<string, string>>;
  body?: NonNullable<BunFetchRequestInit["body"]>;
  /** Aborted when the client disconnects or a deadline passes. A call has no other timeout. */
  signal: AbortSignal;
}

/** Makes an error of a failed response; of its body at most the first 64 KiB are given. */
export type Classify = (response: Pick<Response, "status" | "headers">, bodyText: string) => UpstreamError;

/** Of a whole text response. */
export const MAX_TEXT_BYTES = 32 * 1024 * 1024;
/** Of a response that carries images. */
export const MAX_IMAGE_BYTES = 256 * 1024 * 1024;

const decoder = new TextDecoder();
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_RETRY_SECONDS = 3600;

/** Errors that occur before the request is sent, so the vendor cannot have carried it out. */
const NEVER_SENT: ReadonlySet<unknown> = new Set([
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

/** The response is not valid HTTP, or is encoded wrongly. */
const NOT_HTTP: ReadonlySet<unknown> = new Set([
  "InvalidHTTPResponse",
  "ZlibError",
  "BrotliDecompressionError",
]);

/** Reads a whole text. Throws `broken` when it is longer than `maxBytes`, is empty or was cut. */
export async function readText(response: Response, maxBytes: number, signal: AbortSignal): Promise<string> {
  let text: string;
  try {
    text = await (isKnownToFit(response, maxBytes) ? response.text() : collect(response, maxBytes, signal));
  } catch (error) {
    throw error instanceof UpstreamError ? error : readingError(error, signal);
  }
  if (text === "") throw brokenResponse("gave an empty response");
  return text;
}

/** A compressed body can be of any size, so its length says nothing. */
function isKnownToFit({ headers }: Response, maxBytes: number): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= maxBytes && !headers.has("content-encoding");
}

async function collect(response: Response, maxBytes: number, signal: AbortSignal): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readPieces(response, maxBytes, signal)) pieces.push(piece);
  return decoder.decode(Buffer.concat(pieces));
}

/** Yields a body in pieces under the rules of `readText`. Ending early closes the connection. */
export async function* readPieces(
  response: Response,
  maxBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = response.body?.getReader();
  if (!reader) return;
  let received = 0;
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw readingError(error, signal);
      });
      isOver = done;
      if (done) return;
      received += value.byteLength;
      if (received > maxBytes) throw brokenResponse(`gave more than ${maxBytes} bytes`);
      if (value.byteLength > 0) yield value;
    }
  } finally {
    // Cancelling a body that has failed rejects; nothing is left to close.
    if (!isOver) reader.cancel().catch(() => {});
  }
}

function readingError(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted ? signal.reason : brokenResponse("broke off its response", error);
}

/** Reads JSON; throws `broken` when it is truncated or something else. */
export function parseResponse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw brokenResponse("gave a response that is no JSON", error);
  }
}

/** A response of success without the promised content. The vendor may have done the work, and may charge for it. */
export function brokenResponse(what: string, cause?: unknown): UpstreamError {
  return new UpstreamError("broken", `the vendor ${what}`, { isAmbiguous: true, cause });
}

/**
 * The vendor's retry-after in whole seconds from 0 to 3600: `retry-after-ms`, or `Retry-After` as seconds or as a
 * date (RFC 9110, 10.2.3). Undefined for anything else.
 */
export function readRetryAfter(headers: Headers, now: number): number | undefined {
  const milliseconds = readNumber(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return clampSeconds(milliseconds / 1000);
  const value = headers.get("retry-after");
  const seconds = readNumber(value);
  if (seconds !== undefined) return clampSeconds(seconds);
  const date = value !== null && /^[A-Z][a-z]{2,8},? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : clampSeconds((date - now) / 1000);
}

function connectionError(error: unknown): UpstreamError {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (NOT_HTTP.has(code)) return brokenResponse("gave a response that is no HTTP", error);
  const wasSent = !NEVER_SENT.has(code);
  return new UpstreamError("unreachable", `no response from the vendor (${String(code)})`, {
    isAmbiguous: wasSent,
    cause: error,
  });
}

/** Closes a response without reading it. */
async function discard(response: Response, what: string): Promise<UpstreamError> {
  await response.body?.cancel().catch(() => {});
  return new UpstreamError("broken", `the vendor ${what}`, { status: response.status });
}

/** The start of an error's body. Where a body of unknown length breaks off, what came before is returned. */
async function readErrorText(response: Response, signal: AbortSignal): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    if (isKnownToFit(response, MAX_ERROR_BYTES)) return await response.text();
    for await (const piece of readPieces(response, Number.POSITIVE_INFINITY, signal)) {
      pieces.push(piece);
      length += piece.byteLength;
      if (length >= MAX_ERROR_BYTES) break;
    }
  } catch {
    if (signal.aborted) throw signal.reason;
  }
  return Buffer.concat(pieces).toString("utf8", 0, MAX_ERROR_BYTES);
}

function isHtml(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/html") ?? false;
}

function readNumber(text: string | null): number | undefined {
  return text !== null && /^\s*-?\d+(\.\d+)?(e\d{1,3})?\s*$/i.test(text) ? Number(text) : undefined;
}

function clampSeconds(seconds: number): number {
  return Math.min(MAX_RETRY_SECONDS, Math.max(0, Math.ceil(seconds)));
}
