import { UpstreamError } from "../../domain/upstream-error.ts";
import {
  isCorrected,
  sumTokens,
  type TokenUsage,
  type UsagePolicy,
  type UsageReport,
} from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { yieldToEventLoop } from "../../lib/waiting.ts";
import { CountReader } from "../usage-reading.ts";
import type { VendorReply, WholeReply } from "../dialect.ts";
import type { EmbeddingsPayload } from "./request.ts";

/** Maximum bytes of all vectors in a reply. 2,048 vectors of 1,536 numbers have 46 MB, or 63 MB with all digits. */
export const MAX_VECTOR_BYTES = 64 * 1024 * 1024;

/**
 * Returns the error for a reply over `MAX_VECTOR_BYTES`: `rejected`, because the reply of another vendor would be just
 * as large.
 */
export function tooManyNumbers(): UpstreamError {
  return new UpstreamError("rejected", `the vectors have more than ${MAX_VECTOR_BYTES} bytes`, {
    isAmbiguous: true,
    param: "input",
    publicMessage:
      "The vectors have more than 64 MiB together. Send fewer inputs, fewer `dimensions`, or `encoding_format` `base64`.",
  });
}

/**
 * Reads the reply of a vendor of the same protocol. Keeps its text, but changes the model's name, and `usage` if other
 * numbers are billed. For a caller of another protocol, writes the reply anew. Throws an `UpstreamError` if the reply
 * does not have exactly one vector for each input.
 */
export function readReply(
  { text, parsed }: VendorReply,
  { model, count, foreign }: EmbeddingsPayload,
  policy: UsagePolicy,
): WholeReply {
  const data = isObject(parsed) && Array.isArray(parsed["data"]) ? parsed["data"] : [];
  if (!isObject(parsed) || data.length !== count || !data.every(hasVector))
    throw new UpstreamError("broken", "the response has not one vector for each input");
  const usage = bill(readUsage(parsed["usage"]), policy);
  if (foreign) {
    const vectors = inOrder(data).map(({ embedding }) => JSON.stringify(embedding));
    return { text: foreign.write(vectors, sumTokens(usage.tokens)), usage };
  }
  const edited = editMembers(text, {
    model: (old) => (old === undefined ? undefined : JSON.stringify(model)),
    ...(isCorrected(usage) && { usage: () => JSON.stringify(writeUsage(usage)) }),
  });
  return { text: edited, usage };
}

/** Sorts vectors by `index`, because some vendors do not. Keeps the order if an index occurs twice or is missing. */
function inOrder(data: readonly Vector[]): readonly Vector[] {
  const ordered: Vector[] = [];
  for (const vector of data) {
    const { index } = vector;
    if (typeof index !== "number" || !(index in data) || ordered[index]) return data;
    ordered[index] = vector;
  }
  return ordered;
}

interface Vector {
  embedding: unknown;
  index?: unknown;
}

function hasVector(item: unknown): item is Vector {
  const vector = isObject(item) ? item["embedding"] : undefined;
  return (Array.isArray(vector) || typeof vector === "string") && vector.length > 0;
}

/**
 * Writes the vectors of a vendor of another protocol as JSON. Scales the vectors to unit length, as callers of OpenAI's
 * protocol expect. Lets other tasks run in between, because there may be millions of numbers. Throws an `UpstreamError`
 * if there is not exactly one vector for each input, or if the vectors take more than `MAX_VECTOR_BYTES`.
 */
export async function writeVectors(
  vectors: readonly (readonly number[])[],
  { count, isBase64 }: EmbeddingsPayload,
): Promise<string[]> {
  if (vectors.length !== count || vectors.some(({ length }) => length === 0))
    throw new UpstreamError("broken", "the response has not one vector for each input");
  const written: string[] = [];
  let bytes = 0;
  for (const vector of vectors) {
    await yieldToEventLoop();
    const embedding = toUnitLength(vector);
    const text = JSON.stringify(isBase64 ? toBase64(embedding) : embedding);
    if ((bytes += text.length) > MAX_VECTOR_BYTES) throw tooManyNumbers();
    written.push(text);
  }
  return written;
}

/** Returns a reply with the vectors that `writeVectors` returned. */
export function writeReply(
  { vectors, inputTokens }: { vectors: readonly string[]; inputTokens: number | null },
  { model, foreign }: EmbeddingsPayload,
  policy: UsagePolicy,
): WholeReply {
  const usage = bill(readUsage({ prompt_tokens: inputTokens }), policy);
  if (foreign) return { text: foreign.write(vectors, sumTokens(usage.tokens)), usage };
  const data = vectors.map(
    (vector, index) => `{"object":"embedding","index":${index},"embedding":${vector}}`,
  );
  const rest = JSON.stringify({ model, usage: writeUsage(usage) }).slice(1);
  return { text: `{"object":"list","data":[${data.join()}],${rest}`, usage };
}

/** Scales a vector to unit length; vectors of fewer dimensions have another length (Gemini API, embeddings). */
function toUnitLength(vector: readonly number[]): number[] {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length > 0 && Number.isFinite(length) ? vector.map((value) => value / length) : [...vector];
}

/** Returns 32-bit floats in little-endian order as base64. Official clients decode this form. */
function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(4 * vector.length);
  vector.forEach((value, index) => bytes.writeFloatLE(value, 4 * index));
  return bytes.toString("base64");
}

function bill(report: UsageReport | null, policy: UsagePolicy): TokenUsage {
  return policy({ report, deliveredTokens: 0, seenUses: {}, isReportFinal: true });
}

/** Reads a vendor's usage; null when there is no usage. */
export function readUsage(value: unknown): UsageReport | null {
  if (!isObject(value)) return null;
  const counts = new CountReader();
  const input = counts.read(value["prompt_tokens"]);
  if (input !== null) counts.checkTotal(value["total_tokens"], input);
  const { isAnomalous } = counts;
  return { tokens: { input: input ?? 0 }, hasInput: input !== null, hasOutput: true, isAnomalous };
}

function writeUsage({ tokens }: TokenUsage): { prompt_tokens: number; total_tokens: number } {
  const sum = sumTokens(tokens);
  return { prompt_tokens: sum, total_tokens: sum };
}
