import { GatewayError } from "../../domain/gateway-error.ts";
import type { FeatureUse } from "../../domain/feature.ts";
import type { CountableText } from "../../domain/usage.ts";
import type { ForeignEmbeddings } from "../dialect.ts";
import { splice, type JsonSpan } from "../../lib/json.ts";
import {
  checkTypes,
  type FieldChecks,
  integer,
  knownNames,
  oneOf,
  positive,
  refuseCaseVariants,
  requestSchema,
  text,
  wrongType,
} from "../fields.ts";
import { InputSize } from "../input-size.ts";
import { MAX_PROMPT_UNITS } from "../prompt-text.ts";
import { readBody, requireModelName } from "../request-body.ts";
import { FEATURE_FIELDS, fieldFeatures } from "../vendor-features.ts";

/** A request for embeddings: its exact text and the facts that the gateway read from it. */
export interface EmbeddingsPayload {
  raw: string;
  model: string;
  /** The texts to embed; null for input that consists of tokens. */
  texts: readonly string[] | null;
  count: number;
  dimensions: number | null;
  isBase64: boolean;
  inputCeiling: number;
  estimatedInput: number;
  features: readonly FeatureUse[];
  modelSpan: JsonSpan | undefined;
  /** The details of a request in another protocol; null for a request in OpenAI's protocol. */
  foreign: Pick<ForeignEmbeddings, "purposes" | "ignored" | "write"> | null;
}

const MAX_INPUTS = 2_048;
const FIELDS: FieldChecks = [
  ["dimensions", positive],
  ["encoding_format", oneOf(["float", "base64"], '"float" or "base64"')],
  ["user", text],
];
const TEXT = { type: "string", minLength: 1 };
const TOKENS = { type: "array", items: integer.schema, minItems: 1 };

/** The published schema of a request for embeddings. */
export const embeddingsSchema = requestSchema(FIELDS, {
  model: { type: "string", description: "A model of the type `embedding`" },
  input: {
    anyOf: [
      TEXT,
      { type: "array", items: TEXT, minItems: 1, maxItems: MAX_INPUTS },
      TOKENS,
      { type: "array", items: TOKENS, minItems: 1, maxItems: MAX_INPUTS },
    ],
  },
});

const NAMES = knownNames(["model", "input", ...FIELDS.map(([name]) => name), ...FEATURE_FIELDS]);

/**
 * Parses and checks a request (OpenAI API reference, "Create embeddings"). Throws a `GatewayError` for a wrong request.
 */
export function readRequest(bytes: Uint8Array): EmbeddingsPayload {
  const { raw, body, spans } = readBody(bytes, ["model"]);
  const model = requireModelName(body);
  refuseCaseVariants(body, NAMES);
  checkTypes(body, FIELDS);
  const { dimensions, encoding_format: format } = body;
  const input = readInput(body["input"]);
  return {
    raw,
    model,
    texts: input.texts,
    count: input.count,
    dimensions: typeof dimensions === "number" ? dimensions : null,
    isBase64: format === "base64",
    ...sizeOf(input, bytes.length, raw.length),
    features: fieldFeatures(body),
    modelSpan: spans[0],
    foreign: null,
  };
}

/** Returns the payload of a request in another protocol. */
export function foreignPayload(
  model: string,
  { raw, texts, dimensions, ...foreign }: ForeignEmbeddings,
): EmbeddingsPayload {
  const count = texts.length;
  const size = sizeOf({ texts, count, tokens: 0 }, Buffer.byteLength(raw), raw.length);
  return {
    raw,
    model,
    texts,
    count,
    dimensions,
    isBase64: false,
    ...size,
    features: [],
    modelSpan: undefined,
    foreign,
  };
}

/**
 * Returns the request's text for a vendor of OpenAI's protocol. For a caller of this protocol, it is the caller's text
 * with the vendor's model name. For a caller of another protocol, the text is newly written.
 */
export function forVendor(payload: EmbeddingsPayload, upstreamModel: string): string {
  const { raw, model, modelSpan, foreign, texts, dimensions } = payload;
  if (foreign)
    return JSON.stringify({ model: upstreamModel, input: texts, ...(dimensions !== null && { dimensions }) });
  if (!modelSpan || model === upstreamModel) return raw;
  return splice(raw, [{ span: modelSpan, text: JSON.stringify(upstreamModel) }]);
}

/** Returns the text whose tokens must be counted. The text includes titles only if the vendor gets `purposes`. */
export function inputText(
  { texts, estimatedInput, foreign }: EmbeddingsPayload,
  { takesPurposes = false }: { takesPurposes?: boolean } = {},
): CountableText {
  // Input that consists of tokens needs no tokenizer.
  if (!texts) return { text: "", share: 1, otherTokens: estimatedInput };
  const titles = takesPurposes ? (foreign?.purposes.flatMap(({ title }) => title ?? []) ?? []) : [];
  const text = [...texts, ...titles].join("\n");
  const kept = text.slice(0, MAX_PROMPT_UNITS);
  return { text: kept, share: kept.length / text.length, otherTokens: 0 };
}

interface Input {
  texts: readonly string[] | null;
  count: number;
  /** Number of tokens in the input if the caller sent tokens; 0 if the caller sent texts. */
  tokens: number;
}

function readInput(input: unknown): Input {
  if (typeof input === "string" && input !== "") return { texts: [input], count: 1, tokens: 0 };
  if (!Array.isArray(input) || input.length === 0) throw wrongInput();
  if (input.length > MAX_INPUTS && !isTokens(input)) {
    const message = `\`input\` may have at most ${MAX_INPUTS} items.`;
    throw new GatewayError("invalid_parameter", message, { param: "input" });
  }
  if (input.every((each): each is string => typeof each === "string" && each !== ""))
    return { texts: input, count: input.length, tokens: 0 };
  if (isTokens(input)) return { texts: null, count: 1, tokens: input.length };
  if (!input.every(isTokens)) throw wrongInput();
  return { texts: null, count: input.length, tokens: input.reduce((sum, each) => sum + each.length, 0) };
}

function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => Number.isInteger(each));
}

function wrongInput(): GatewayError {
  return wrongType("input", "a non-empty string, or an array of those, of tokens, or of arrays of tokens");
}

function sizeOf(
  { texts, tokens }: Input,
  bytes: number,
  units: number,
): Pick<EmbeddingsPayload, "inputCeiling" | "estimatedInput"> {
  if (!texts) return { inputCeiling: tokens, estimatedInput: tokens };
  const { inputCeiling, estimatedInput } = new InputSize(bytes, units).tokens;
  return { inputCeiling, estimatedInput };
}
