import type { Cancellation } from "../../lib/waiting.ts";
import type { TextCall, TextResponse, TextUpstream } from "../../gateway/upstreams.ts";
import { isObject } from "../../lib/json.ts";
import {
  brokenResponse,
  type Classify,
  MAX_TEXT_BYTES,
  openEvents,
  parseResponse,
  post,
  readText,
  requestIdOf,
  type VendorResponse,
} from "../transport/http.ts";
import { JSON_HEADERS } from "../transport/json-call.ts";
import { createVendorErrors } from "../transport/vendor-errors.ts";
import { withCredential, type Credential } from "../transport/credential.ts";
import type { GenerateContentConnection } from "./connection.ts";
import { readTextFailure } from "./errors.ts";

/**
 * Text by `generateContent` and `streamGenerateContent`. Does not change the texts of request and response. Throws for
 * an error in a whole response with a success status. Errors inside a stream are left to the reader of the stream.
 */
export function createGenerateContentText(connection: GenerateContentConnection): TextUpstream {
  return {
    dialect: "native",
    traits: { demandsRoles: connection.demandsRoles },
    send: (call) =>
      withCredential(connection.authenticate, call.signal, (credential) =>
        send(call, connection, credential),
      ),
    countTokens: (call) =>
      withCredential(connection.authenticate, call.signal, (credential) =>
        countTokens(call, connection, credential),
      ),
  };
}

async function send(
  { raw, upstreamModel, isStream, signal }: TextCall,
  connection: GenerateContentConnection,
  credential: Credential,
): Promise<TextResponse> {
  const classify = classifier(connection, credential);
  const headers = { ...(isStream ? STREAM_HEADERS : WHOLE_HEADERS), ...credential.headers };
  // Without this query the vendor sends the stream as one JSON array.
  const url = isStream
    ? `${connection.urlOf(upstreamModel, "streamGenerateContent")}?alt=sse`
    : connection.urlOf(upstreamModel, "generateContent");
  const response = await post({ url, headers, body: raw, signal }, classify);
  const requestId = requestIdOf(response);
  const stream = isStream ? openEvents(response) : null;
  if (stream) return { kind: "stream", stream, requestId };
  return { ...(await readWhole(response, classify, signal)), requestId };
}

async function countTokens(
  { raw, upstreamModel, signal }: TextCall,
  connection: GenerateContentConnection,
  credential: Credential,
): Promise<string> {
  const headers = { ...WHOLE_HEADERS, ...credential.headers };
  const url = connection.urlOf(upstreamModel, "countTokens");
  const body = connection.writeCount(raw, upstreamModel);
  const response = await post({ url, headers, body, signal }, classifier(connection, credential));
  const parsed = parseResponse(await readText(response, MAX_TEXT_BYTES, signal));
  // A missing number is no error, because the vendor omits zeros.
  if (!isObject(parsed) || parsed["error"]) throw brokenResponse("gave no number of tokens");
  const counts = COUNT_NAMES.map((name) => [name, parsed[name]] as const);
  return JSON.stringify(Object.fromEntries(counts));
}

/** The fields of a `countTokens` response (Gemini and Vertex API references). */
const COUNT_NAMES = [
  "totalTokens",
  "totalBillableCharacters",
  "cachedContentTokenCount",
  "promptTokensDetails",
  "cacheTokensDetails",
];

/**
 * Returns the classifier of failures. The vendor errors are made only when a call fails, because each call may have
 * another credential and failures are rare.
 */
function classifier({ baseUrl }: GenerateContentConnection, { secret }: Credential): Classify {
  return (response, text) =>
    createVendorErrors({ secret, baseUrl }, readTextFailure).classify(response, text);
}

const WHOLE_HEADERS = { ...JSON_HEADERS, "content-type": "application/json" };
const STREAM_HEADERS = { ...WHOLE_HEADERS, accept: "text/event-stream" };

async function readWhole(
  response: VendorResponse,
  classify: Classify,
  signal: Cancellation,
): Promise<TextResponse> {
  const text = await readText(response, MAX_TEXT_BYTES, signal);
  const parsed = parseResponse(text);
  const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (isObject(body) && body["error"]) throw classify(response, text);
  if (!isObject(parsed)) throw brokenResponse("gave no object");
  return { kind: "whole", text, parsed };
}
