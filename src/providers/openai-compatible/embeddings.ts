import type { EmbeddingUpstream } from "../../gateway/ports.ts";
import { brokenResponse, MAX_TEXT_BYTES, parseResponse, post, readText } from "../transport/http.ts";
import { requestIdOf } from "../transport/request-id.ts";
import { isObject } from "../../lib/json.ts";
import type { OpenAiConnection } from "./connection.ts";
import { hasError } from "./errors.ts";

/** An array of numbers and nothing else. */
const VECTOR = /\[[-+.,\d\seE]+\]/g;

/** The text with one number for each vector: millions of numbers pass to the caller, and nothing here reads them. */
function withShortVectors(text: string): string {
  return text.replace(VECTOR, "[0]");
}

/** Embeddings: the texts of request and response pass unchanged. */
export function createOpenAiEmbeddings(connection: OpenAiConnection): EmbeddingUpstream {
  return {
    async embed({ raw, upstreamModel, signal }) {
      const url = connection.urlOf("embeddings", () => upstreamModel);
      const request = { url, headers: connection.jsonHeaders, body: raw, signal };
      const response = await post(request, connection.errors.classify);
      const text = await readText(response, MAX_TEXT_BYTES, signal);
      const parsed = parseResponse(withShortVectors(text));
      if (hasError(parsed)) throw connection.errors.classify(response, text);
      if (!isObject(parsed)) throw brokenResponse("gave no object");
      return { kind: "whole", text, parsed, requestId: requestIdOf(response) };
    },
  };
}
