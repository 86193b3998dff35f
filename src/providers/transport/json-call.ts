import { isObject } from "../../lib/json.ts";
import {
  brokenResponse,
  MAX_TEXT_BYTES,
  parseResponse,
  readText,
  send,
  type Classify,
  type VendorRequest,
} from "./http.ts";
import type { JsonBody } from "./json-body.ts";

/** Makes a call and returns the JSON object of its response. Throws an `UpstreamError`, or the signal's reason. */
export async function callJson(
  method: "POST" | "GET",
  call: JsonCall,
  classify: Classify,
): Promise<Record<string, unknown>> {
  const response = await sendJson(method, call, classify);
  const value = parseResponse(await readText(response, MAX_TEXT_BYTES, call.signal));
  if (!isObject(value)) throw brokenResponse("gave no object");
  return value;
}

/** Makes a call and returns the response with its body unread. */
export function sendJson(
  method: "POST" | "GET",
  { body, headers, ...request }: JsonCall,
  classify: Classify,
): Promise<Response> {
  const sized = body && { ...headers, ...JSON_TYPE, "content-length": String(body.byteLength) };
  return send(method, { ...request, headers: sized ?? headers, body: body?.body }, classify);
}

interface JsonCall extends Omit<VendorRequest, "body"> {
  body?: JsonBody;
}

/** Headers of every JSON call, without the credential. */
export const JSON_HEADERS = {
  accept: "application/json",
  "accept-encoding": "identity",
  "user-agent": "model-inference-gateway",
} as const;

const JSON_TYPE = { "content-type": "application/json" } as const;
