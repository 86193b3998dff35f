import type { StreamedObject } from "../../lib/json-spool.ts";
import type { EmbeddingPurpose, ForeignEmbeddings } from "../dialect.ts";
import { positive, wrongType, knownNames, refuseCaseVariants, requestSchema, text } from "../fields.ts";
import { readBody } from "../request-body.ts";
import { findField, findObject, findObjects, findText, invalid, namesOf, unknownNames } from "./fields.ts";

const MAX_REQUESTS = 2_048;
const NAMES = namesOf(["model", "content", "taskType", "title", "outputDimensionality"]);
const BATCH_NAMES = namesOf(["model", "requests"]);
const KNOWN = knownNames([...NAMES, ...BATCH_NAMES]);
/** Names of the fields of `content`. `role` has no effect in requests for embeddings. */
const CONTENT_NAMES = namesOf(["parts", "role"]);
const PART_NAMES = namesOf(["text"]);

const CONTENT = requestSchema(
  [],
  { parts: { type: "array", items: requestSchema([], { text: text.schema }), minItems: 1 } },
  ["parts"],
);

/** The published schema of a request for one embedding. */
export const embedSchema = requestSchema(
  [
    ["outputDimensionality", positive],
    ["taskType", text],
    ["title", text],
  ],
  { content: CONTENT },
  ["content"],
);
export const batchEmbedSchema = requestSchema(
  [],
  { requests: { type: "array", items: embedSchema, minItems: 1, maxItems: MAX_REQUESTS } },
  ["requests"],
);

/**
 * Parses and checks an `embedContent` request, or a `batchEmbedContents` request if `isBatch` is true (Gemini API
 * reference, "Embeddings"). Throws a `GatewayError` for a wrong request.
 */
export function readEmbeddings(
  bytes: Uint8Array,
  { isModel, isBatch }: { isModel(name: string): boolean; isBatch: boolean },
): ForeignEmbeddings {
  const { raw, body: parsed } = readBody(bytes, []);
  // Parsed JSON is also valid streamed JSON, in which no value is on disk.
  const body = parsed as StreamedObject;
  refuseCaseVariants(body, KNOWN);
  const requests = isBatch ? requestsOf(body) : [body];
  const read = requests.map((request, index) => {
    const path = isBatch ? `requests[${index}].` : "";
    refuseCaseVariants(request, KNOWN, path.slice(0, -1));
    const model = findText(request, "model");
    if (model !== undefined && !isModel(model))
      throw invalid(`${path}model`, "must be the model of the path");
    return {
      text: textOf(request, path),
      dimensions: dimensionsOf(request, path),
      purpose: purposeOf(request),
    };
  });
  const dimensions = read[0]?.dimensions ?? null;
  if (read.some((each) => each.dimensions !== dimensions))
    throw invalid("requests[].outputDimensionality", "must be the same in all requests");
  return {
    raw,
    texts: read.map((each) => each.text),
    dimensions,
    purposes: read.map(({ purpose }) => purpose),
    ignored: [
      ...new Set([...(isBatch ? unknownNames(body, BATCH_NAMES) : []), ...requests.flatMap(ignoredOf)]),
    ],
    write(vectors, inputTokens) {
      const values = vectors.map((vector) => `{"values":${vector}}`);
      const result = isBatch ? `"embeddings":[${values.join()}]` : `"embedding":${values[0]}`;
      return `{${result},"usageMetadata":{"promptTokenCount":${inputTokens}}}`;
    },
  };
}

function requestsOf(body: StreamedObject): StreamedObject[] {
  const requests = findObjects(body, "requests")?.value ?? [];
  if (requests.length === 0) throw invalid("requests", "must be an array of at least one request");
  if (requests.length > MAX_REQUESTS) throw invalid("requests", `may have at most ${MAX_REQUESTS} items`);
  return requests;
}

function ignoredOf(request: StreamedObject): string[] {
  const content = findObject(request, "content")?.value ?? {};
  const ofContent = unknownNames(content, CONTENT_NAMES).map((name) => `content.${name}`);
  return [...unknownNames(request, NAMES), ...ofContent];
}

/** Returns the text of all parts. Throws for a part without text, because only text can be embedded. */
function textOf(request: StreamedObject, path: string): string {
  const parts = findObject(request, "content");
  const texts = (parts ? (findObjects(parts.value, "parts")?.value ?? []) : []).map((part, index) => {
    const written = findText(part, "text");
    if (written !== undefined && unknownNames(part, PART_NAMES).length === 0) return written;
    throw invalid(`${path}content.parts[${index}]`, "must be a text: nothing else is embedded here");
  });
  const joined = texts.join("\n");
  if (joined === "") throw invalid(`${path}content`, "must have a part with a text");
  return joined;
}

function dimensionsOf(request: StreamedObject, path: string): number | null {
  const field = findField(request, "outputDimensionality");
  if (field && !positive.holds(field.value)) throw wrongType(`${path}${field.key}`, positive.must);
  return field ? Number(field.value) : null;
}

function purposeOf(request: StreamedObject): EmbeddingPurpose {
  const taskType = findText(request, "taskType");
  const title = findText(request, "title");
  return { ...(taskType !== undefined && { taskType }), ...(title !== undefined && { title }) };
}
