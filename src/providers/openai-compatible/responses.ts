import { parseBounded } from "../../lib/bounded-json.ts";
import { withoutReasoning } from "../../dialects/responses/forward.ts";
import type { TextCall, TextResponse, TextUpstream } from "../../gateway/upstreams.ts";
import { isObject } from "../../lib/json.ts";
import { openEvents } from "../transport/event-stream.ts";
import {
  brokenResponse,
  type Classify,
  MAX_TEXT_BYTES,
  parseResponse,
  post,
  readText,
  requestIdOf,
} from "../transport/http.ts";
import type { OpenAiConnection } from "./connection.ts";
import { hasError } from "./errors.ts";

/** The error code for encrypted reasoning that another account made (OpenAI responses reference). */
const UNDECRYPTABLE = "invalid_encrypted_content";

/**
 * The responses protocol: the texts of request and response pass unchanged. When an account cannot decrypt another
 * one's reasoning, or has not stored it, the request is sent again without the reasoning. An error inside a whole
 * response of success is thrown here; one inside a stream is left to the reader of the stream.
 */
export function createOpenAiResponses(connection: OpenAiConnection): TextUpstream {
  return {
    dialect: "responses",
    traits: connection.textTraits,
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
  { raw, upstreamModel, isStream, signal }: TextCall,
  classify: Classify,
): Promise<TextResponse> {
  const headers = isStream ? connection.streamHeaders : connection.jsonHeaders;
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

/**
 * True when the account cannot read the reasoning. Items that are named by an id and not stored in this account give
 * 404 (OpenAI reasoning guide).
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
