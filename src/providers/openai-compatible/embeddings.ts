import type { EmbeddingUpstream } from "../../gateway/upstreams.ts";
import { MAX_VECTOR_BYTES, tooManyNumbers } from "../../dialects/embeddings/index.ts";
import type { Cancellation } from "../../lib/cancellation.ts";
import { NumberLists } from "../../lib/number-lists.ts";
import { brokenResponse, parseResponse, post, readPieces, type VendorResponse } from "../transport/http.ts";
import { requestIdOf } from "../transport/request-id.ts";
import { isObject } from "../../lib/json.ts";
import type { OpenAiConnection } from "./connection.ts";
import { hasError } from "./errors.ts";

/** Embeddings: the texts of request and response pass unchanged, and nothing here reads the numbers of vectors. */
export function createOpenAiEmbeddings(connection: OpenAiConnection): EmbeddingUpstream {
  return {
    async embed({ raw, upstreamModel, signal }) {
      const url = connection.urlOf("embeddings", () => upstreamModel);
      const request = { url, headers: connection.jsonHeaders, body: raw, signal };
      const response = await post(request, connection.errors.classify);
      const vectors = await readVectors(response, signal);
      const { text } = vectors;
      const parsed = parseResponse(text);
      if (hasError(parsed)) throw connection.errors.classify(response, vectors.restore(text));
      if (!isObject(parsed)) throw brokenResponse("gave no object");
      const restore = (edited: string) => vectors.restore(edited);
      return { kind: "whole", text, parsed, restore, requestId: requestIdOf(response) };
    },
  };
}

async function readVectors(response: VendorResponse, signal: Cancellation): Promise<NumberLists> {
  if (Number(response.headers.get("content-length")) > MAX_VECTOR_BYTES) {
    await response.body?.cancel().catch(() => {});
    throw tooManyNumbers();
  }
  const vectors = new NumberLists();
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const piece of readPieces(response, Number.POSITIVE_INFINITY, signal)) {
    bytes += piece.byteLength;
    if (bytes > MAX_VECTOR_BYTES) throw tooManyNumbers();
    vectors.push(decoder.decode(piece, { stream: true }));
  }
  return vectors;
}
