import type { TextResponse, TextCall, TextUpstream } from "../../gateway/upstreams.ts";
import { isObject } from "../../lib/json.ts";
import {
  brokenResponse,
  MAX_TEXT_BYTES,
  openEvents,
  parseResponse,
  post,
  readText,
  requestIdOf,
  type VendorResponse,
} from "../transport/http.ts";
import type { OpenAiConnection } from "./connection.ts";
import { hasError } from "./errors.ts";

/**
 * Chat completions. Does not change the texts of request and response. Throws for an error in a whole response with a
 * success status. Errors inside a stream are left to the reader of the stream.
 */
export function createOpenAiText(connection: OpenAiConnection): TextUpstream {
  return {
    dialect: "chat",
    traits: connection.textTraits,
    async send({ raw, upstreamModel, isStream, signal }: TextCall): Promise<TextResponse> {
      const headers = isStream ? connection.streamHeaders : connection.jsonHeaders;
      const url = connection.urlOf("chat/completions", () => upstreamModel);
      const request = { url, headers, body: raw, signal };
      const response = await post(request, connection.errors.classify);
      const stream = isStream ? openEvents(response) : null;
      if (stream) return { kind: "stream", stream, requestId: requestIdOf(response) };
      const text = readText(response, MAX_TEXT_BYTES, signal);
      return readWhole(response, text instanceof Promise ? await text : text, connection);
    },
  };
}

function readWhole(response: VendorResponse, text: string, connection: OpenAiConnection): TextResponse {
  const parsed = parseResponse(text);
  if (hasError(parsed)) throw connection.errors.classify(response, text);
  if (!isObject(parsed) || !Array.isArray(parsed["choices"])) throw brokenResponse("gave no choices");
  return { kind: "whole", text, parsed, requestId: requestIdOf(response) };
}
