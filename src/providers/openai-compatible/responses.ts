import { parseBounded } from "../../lib/parse-json.ts";
import { withoutReasoning } from "../../dialects/responses/forward.ts";
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
} from "../transport/http.ts";
import type { OpenAiConnection } from "./connection.ts";
import { hasError } from "./errors.ts";

/** The error code for encrypted reasoning of another account (OpenAI responses reference). */
const UNDECRYPTABLE = "invalid_encrypted_content";

/**
 * The responses protocol. Calls leave the texts of request and response unchanged, with one exception: if an account
 * cannot decrypt the reasoning of another account, or has not stored it, the request is sent again without reasoning.
 * Throws for an error in a whole response with a success status. Errors inside a stream are left to the reader of the
 * stream.
 */
export function createOpenAiResponses(
  connection: OpenAiConnection,
  { countsTokens = false }: { countsTokens?: boolean } = {},
): TextUpstream {
  return {
    dialect: "responses",
    traits: connection.textTraits,
    ...(countsTokens && { countTokens: (call) => countTokens(connection, call) }),
    async send(call) {
      let isUnreadable = false;
      const classify: Classify = (response, bodyText) => {
        isUnreadable = cannotReadReasoning(response.status, bodyText);
        return connection.errors.classify(response, bodyText);
      };
      try {
        return await sendOnce(connection, call, classify);
      } catch (error) {
        const raw = isUnreadable ? withoutReasoning(call.raw) : call.raw;
        if (raw === call.raw) throw error;
        return sendOnce(connection, { ...call, raw }, connection.errors.classify);
      }
    },
  };
}

async function sendOnce(
  connection: OpenAiConnection,
  { raw, upstreamModel, isStream, headers: ofCaller, signal }: TextCall,
  classify: Classify,
): Promise<TextResponse> {
  const common = isStream ? connection.streamHeaders : connection.jsonHeaders;
  const headers = { ...common, ...ofCaller };
  const url = connection.urlOf("responses", () => upstreamModel);
  const response = await post({ url, headers, body: raw, signal }, classify);
  const requestId = requestIdOf(response);
  const stream = isStream ? openEvents(response) : null;
  if (stream) return { kind: "stream", stream, requestId };
  const text = await readText(response, MAX_TEXT_BYTES, signal);
  const parsed = parseResponse(text);
  if (hasError(parsed)) throw classify(response, text);
  if (!isObject(parsed) || !Array.isArray(parsed["output"])) throw brokenResponse("gave no output");
  return { kind: "whole", text, parsed, requestId };
}

/** Counts the tokens of a request (OpenAI responses reference, "Get input token counts"). */
async function countTokens(
  connection: OpenAiConnection,
  { raw, upstreamModel, headers, signal }: TextCall,
): Promise<string> {
  const url = connection.urlOf("responses/input_tokens", () => upstreamModel);
  const request = { url, headers: { ...connection.jsonHeaders, ...headers }, body: raw, signal };
  const response = await post(request, connection.errors.classify);
  const text = await readText(response, MAX_TEXT_BYTES, signal);
  const parsed = parseResponse(text);
  if (hasError(parsed)) throw connection.errors.classify(response, text);
  const tokens: unknown = isObject(parsed) ? parsed["input_tokens"] : undefined;
  if (typeof tokens !== "number") throw brokenResponse("gave no number of tokens");
  return JSON.stringify({ object: "response.input_tokens", input_tokens: tokens });
}

/**
 * True when the account cannot read the reasoning. The vendor returns a 404 when the request refers to an item by an id
 * that this account has not stored (OpenAI reasoning guide).
 */
function cannotReadReasoning(status: number, bodyText: string): boolean {
  try {
    const body: unknown = parseBounded(bodyText);
    const error: unknown = isObject(body) ? body["error"] : undefined;
    if (!isObject(error)) return false;
    return error["code"] === UNDECRYPTABLE || (status === 404 && error["param"] === "input");
  } catch {
    return false;
  }
}
