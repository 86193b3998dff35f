import type { TextCall, TextResponse, TextUpstream } from "../../gateway/ports.ts";
import { isObject } from "../../lib/json.ts";
import {
  brokenResponse,
  MAX_TEXT_BYTES,
  parseResponse,
  post,
  readText,
  requestIdOf,
  type Classify,
} from "../transport/http.ts";
import { JSON_HEADERS } from "../transport/json-call.ts";
import { createVendorErrors } from "../transport/vendor-errors.ts";
import { withCredential, type Credential, type GenerateContentConnection } from "./connection.ts";
import { readTextFailure } from "./errors.ts";

/**
 * Text by `generateContent` and `streamGenerateContent`: the texts of request and response pass unchanged. An error
 * inside a whole response of success is thrown here; one inside a stream is left to the reader of the stream.
 */
export function createGenerateContentText(connection: GenerateContentConnection): TextUpstream {
  return {
    dialect: "native",
    traits: { demandsRoles: connection.demandsRoles },
    send: (call) =>
      withCredential(connection, call.signal, (credential) => send(call, connection, credential)),
  };
}

async function send(
  { raw, upstreamModel, isStream, signal }: TextCall,
  connection: GenerateContentConnection,
  { headers, secret }: Credential,
): Promise<TextResponse> {
  // Credentials may be new for every call, and failures are rare.
  const classify: Classify = (response, text) =>
    createVendorErrors({ secret, baseUrl: connection.baseUrl }, readTextFailure).classify(response, text);
  const request = {
    url: connection.urlOf(upstreamModel, isStream ? "streamGenerateContent" : "generateContent"),
    headers: { ...(isStream ? STREAM_HEADERS : WHOLE_HEADERS), ...headers },
    body: raw,
    signal,
  };
  // Without this the stream is one array of JSON.
  const response = await post(isStream ? { ...request, url: `${request.url}?alt=sse` } : request, classify);
  const requestId = requestIdOf(response);
  if (!isStream || isJson(response)) return { ...(await readWhole(response, classify, signal)), requestId };
  if (!response.body || response.headers.get("content-length") === "0")
    throw brokenResponse("gave an empty response");
  return { kind: "stream", stream: response.body, requestId };
}

const WHOLE_HEADERS = { ...JSON_HEADERS, "content-type": "application/json" };
const STREAM_HEADERS = { ...WHOLE_HEADERS, accept: "text/event-stream" };

function isJson({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("application/json") ?? false;
}

async function readWhole(response: Response, classify: Classify, signal: AbortSignal): Promise<TextResponse> {
  const text = await readText(response, MAX_TEXT_BYTES, signal);
  const parsed = parseResponse(text);
  const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (isObject(body) && body["error"]) throw classify(response, text);
  if (!isObject(parsed)) throw brokenResponse("gave no object");
  return { kind: "whole", text, parsed };
}
