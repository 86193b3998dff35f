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
import type { VendorTraits } from "../../dialects/dialect.ts";
import type { MessagesConnection } from "./connection.ts";
import { tellingUnknownBetas } from "./unknown-betas.ts";

/**
 * Text in the messages protocol. Does not change the texts of request and response. Sends the caller's headers of the
 * protocol. Throws for an error in a whole response with a success status. Errors inside a stream are left to the
 * reader of the stream.
 */
export function createMessagesText(connection: MessagesConnection, traits: VendorTraits = {}): TextUpstream {
  const { url, jsonHeaders, streamHeaders, errors, countsTokens } = connection;
  return {
    dialect: "messages",
    traits,
    async send(call: TextCall): Promise<TextResponse> {
      const { raw, isStream, headers, signal } = call;
      const common = isStream ? streamHeaders : jsonHeaders;
      const request = { url, headers: { ...common, ...headers }, body: raw, signal };
      const response = await post(request, tellingUnknownBetas(errors.classify, call));
      const requestId = requestIdOf(response);
      const stream = isStream ? openEvents(response) : null;
      if (stream) return { kind: "stream", stream, requestId };
      return { ...(await readMessage(response, errors.classify, signal)), requestId };
    },
    ...(countsTokens && { countTokens: (call) => countTokens(connection, call) }),
  };
}

/** Reads a whole message. Throws an `UpstreamError` when the response is an error or no message. */
export async function readMessage(
  response: VendorResponse,
  classify: Classify,
  signal: Cancellation,
): Promise<TextResponse> {
  const text = await readText(response, MAX_TEXT_BYTES, signal);
  const parsed = parseResponse(text);
  if (!isObject(parsed) || parsed["type"] === "error") throw classify(response, text);
  if (!Array.isArray(parsed["content"])) throw brokenResponse("gave no content");
  return { kind: "whole", text, parsed };
}

async function countTokens(
  { url, jsonHeaders, errors }: MessagesConnection,
  call: TextCall,
): Promise<string> {
  const { raw, headers, signal } = call;
  const request = { url: `${url}/count_tokens`, headers: { ...jsonHeaders, ...headers }, body: raw, signal };
  const response = await post(request, tellingUnknownBetas(errors.classify, call));
  return readCount(response, signal);
}

/** Reads a request's number of tokens. Returns the response's text with only the members of the protocol. */
export async function readCount(response: VendorResponse, signal: Cancellation): Promise<string> {
  const text = await readText(response, MAX_TEXT_BYTES, signal);
  const parsed = parseResponse(text);
  if (!isObject(parsed) || typeof parsed["input_tokens"] !== "number")
    throw brokenResponse("gave no number of tokens");
  const { input_tokens, context_management } = parsed;
  return JSON.stringify({ input_tokens, context_management });
}
