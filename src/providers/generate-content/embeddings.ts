import { untranslatable } from "../../dialects/conversation/untranslatable.ts";
import { saneCount } from "../../domain/usage.ts";
import type { EmbeddingCall, EmbeddingUpstream } from "../../gateway/upstreams.ts";
import { isObject } from "../../lib/json.ts";
import { brokenResponse, MAX_TEXT_BYTES, parseResponse, post, readText } from "../transport/http.ts";
import { JSON_HEADERS } from "../transport/json-call.ts";
import { createVendorErrors } from "../transport/vendor-errors.ts";
import { type Credential, withCredential } from "../transport/credential.ts";
import type { GenerateContentConnection } from "./connection.ts";
import { readTextFailure } from "./errors.ts";

/** Maximum number of texts of one call (Gemini API, `batchEmbedContents`). */
const MAX_BATCH = 100;

/** Embeddings by `batchEmbedContents`, with as many calls as the number of texts requires. */
export function createGenerateContentEmbeddings(connection: GenerateContentConnection): EmbeddingUpstream {
  return {
    takesPurposes: true,
    embed: ({ texts, ...call }) => {
      // Token ids are refused, because they belong to the tokenizers of other vendors.
      if (!texts) throw untranslatable("input", "Send texts instead of tokens.");
      return withCredential(connection.authenticate, call.signal, (credential) =>
        embedAll(texts, call, connection, credential),
      );
    },
  };
}

type Call = Omit<EmbeddingCall, "texts">;

async function embedAll(
  texts: readonly string[],
  call: Call,
  connection: GenerateContentConnection,
  credential: Credential,
): Promise<{ kind: "vectors"; vectors: number[][]; inputTokens: number | null }> {
  const vectors: number[][] = [];
  let inputTokens: number | null = 0;
  for (let from = 0; from < texts.length; from += MAX_BATCH) {
    const requests = requestsOf(texts, call, from);
    const batch = await embedBatch(requests, call, connection, credential);
    vectors.push(...batch.vectors);
    inputTokens = inputTokens === null || batch.tokens === null ? null : inputTokens + batch.tokens;
  }
  return { kind: "vectors", vectors, inputTokens };
}

/** Returns the requests of the batch that begins with the text at `from`. */
function requestsOf(
  texts: readonly string[],
  { upstreamModel, dimensions, purposes }: Call,
  from: number,
): object[] {
  const common = {
    model: `models/${upstreamModel}`,
    ...(dimensions !== null && { outputDimensionality: dimensions }),
  };
  return texts
    .slice(from, from + MAX_BATCH)
    .map((text, index) =>
      Object.assign({ content: { parts: [{ text }] } }, common, purposes?.[from + index]),
    );
}

async function embedBatch(
  requests: readonly object[],
  { upstreamModel, signal }: Call,
  connection: GenerateContentConnection,
  { headers, secret }: Credential,
): Promise<{ vectors: number[][]; tokens: number | null }> {
  const errors = createVendorErrors({ secret, baseUrl: connection.baseUrl }, readTextFailure);
  const request = {
    url: connection.urlOf(upstreamModel, "batchEmbedContents"),
    headers: { ...JSON_HEADERS, "content-type": "application/json", ...headers },
    body: JSON.stringify({ requests }),
    signal,
  };
  const response = await post(request, errors.classify);
  const parsed = parseResponse(await readText(response, MAX_TEXT_BYTES, signal));
  if (!isObject(parsed) || !Array.isArray(parsed["embeddings"])) throw brokenResponse("gave no embeddings");
  const usage = isObject(parsed["usageMetadata"]) ? parsed["usageMetadata"] : {};
  return { vectors: parsed["embeddings"].map(valuesOf), tokens: saneCount(usage["promptTokenCount"]) };
}

function valuesOf(embedding: unknown): number[] {
  const values: unknown = isObject(embedding) ? embedding["values"] : undefined;
  if (Array.isArray(values) && values.every((value) => typeof value === "number")) return values;
  throw brokenResponse("gave a vector that is no list of numbers");
}
