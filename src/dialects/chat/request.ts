import type { TextPayload, TextRequest, VendorTerms } from "../dialect.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { readFeatures } from "./features.ts";
import { checkFields, checkNames } from "./fields.ts";
import { readReferences } from "./parts.ts";
import { eighthsOf, wholeTokens } from "../token-estimate.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { exceededBound, hasRepeatedName, isObject, scanObject, splice, type Span } from "../../lib/json.ts";

export interface ChatRequest extends TextRequest {
  spans: { model: Span; streamOptions: Span | undefined; bodyStart: number };
}

export type ChatPayload = TextPayload<ChatRequest>;

const decoder = new TextDecoder("utf-8", { fatal: true });
const MAX_DEPTH = 128;
/** Bodies up to this size are parsed without counting values; larger ones could block the event loop. */
const LARGE_BYTES = 256 * 1024;
const BOUNDS = { values: 500_000, names: 50_000 };
/** Upper bound of what vendors count for one image, and what they count for most. */
const MAX_IMAGE_TOKENS = 12_288;
const DEFAULT_IMAGE_TOKENS = 1_536;
/** Base64 of audio and documents has far fewer tokens than characters: about one for as many characters. */
const MEDIA_CHARACTERS_PER_TOKEN = 64;

/** Reads and checks a request's bytes. Throws a `GatewayError` whose `param` names the field to change. */
export function readRequest(bytes: Uint8Array): ChatPayload {
  const { raw, body } = readObject(bytes);
  const scan = scanObject(raw, ["model", "stream_options"]);
  if (scan.depth > MAX_DEPTH)
    throw malformed(`The request body is nested more than ${MAX_DEPTH} levels deep.`);
  if (hasRepeatedName(scan, body)) throw malformed("The request body names a field twice at its top level.");
  if (Object.hasOwn(body, "provider")) {
    const message = "Remove `provider`: the gateway chooses the provider by itself.";
    throw new GatewayError("provider_not_allowed", message, { param: "provider" });
  }
  const model = body["model"];
  const [modelSpan, streamOptions] = scan.spans;
  if (typeof model !== "string" || model === "" || !modelSpan) {
    throw new GatewayError("model_required", "Set `model` to the id of a model.", { param: "model" });
  }
  checkNames(body);
  checkFields(body);
  const { files, linkParam } = readReferences(body["messages"]);
  return {
    dialect: "chat",
    raw,
    headers: {},
    parsed: {
      model,
      isStream: body["stream"] === true,
      maxTokens: largerOf(integer(body["max_completion_tokens"]), integer(body["max_tokens"])),
      choices: integer(body["n"]) ?? 1,
      ...inputSize(bytes.length, raw.length, body["messages"]),
      features: [...readFeatures(body), ...files],
      linkParam,
      body,
      spans: { model: modelSpan, streamOptions, bodyStart: scan.bodyStart },
    },
  };
}

/**
 * The text for a vendor of the same dialect: its own model name, usage always requested on a stream, a maximum of
 * output tokens for a caller who set none and whose budget needs one, everything else as the caller wrote it.
 */
export function forVendor(payload: ChatPayload, terms: VendorTerms): string {
  const text = withModelAndUsage(payload, terms.upstreamModel);
  const { coveredTokens, traits } = terms;
  return coveredTokens === null
    ? text
    : editMembers(text, { [traits.maxTokensField ?? "max_tokens"]: () => String(coveredTokens) });
}

function withModelAndUsage({ raw, parsed }: ChatPayload, upstreamModel: string): string {
  const { model, spans, isStream, body } = parsed;
  const edits: { span: Span; text: string }[] = [];
  if (upstreamModel !== model) edits.push({ span: spans.model, text: JSON.stringify(upstreamModel) });
  if (isStream) {
    const requested = body["stream_options"];
    const options = JSON.stringify({ ...(isObject(requested) ? requested : {}), include_usage: true });
    if (spans.streamOptions) edits.push({ span: spans.streamOptions, text: options });
    else {
      const start = { start: spans.bodyStart, end: spans.bodyStart };
      edits.push({ span: start, text: `"stream_options":${options},` });
    }
  }
  if (edits.length === 0) return raw;
  return splice(
    raw,
    edits.sort((one, other) => one.span.start - other.span.start),
  );
}

function readObject(bytes: Uint8Array): { raw: string; body: Record<string, unknown> } {
  const raw = readText(bytes);
  const exceeded = bytes.length > LARGE_BYTES ? exceededBound(raw, BOUNDS) : null;
  if (exceeded) throw malformed(`The request body has more than ${BOUNDS[exceeded]} ${exceeded}.`);
  let body: unknown;
  try {
    body = JSON.parse(raw);
  } catch {
    throw malformed("The request body is not valid JSON.");
  }
  if (!isObject(body)) throw malformed("The request body must be a JSON object.");
  return { raw, body };
}

/** Encoding the text again gives the same bytes, except for a byte order mark. */
function readText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw malformed("The request body is not valid UTF-8.");
  }
}

function malformed(message: string): GatewayError {
  return new GatewayError("invalid_request_body", message);
}

/** Vendors obey the one or the other, and the hold must cover both. */
function largerOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function integer(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** Both sizes of a prompt, from the bytes of its body and their UTF-16 code units. */
function inputSize(
  bytes: number,
  units: number,
  messages: unknown,
): Pick<ChatRequest, "inputCeiling" | "estimatedInput"> {
  let ceiling = bytes;
  let eighths = eighthsOf(bytes, units);
  for (const part of partsOf(messages)) {
    const url = memberOf(part["image_url"], "url");
    if (url !== undefined) {
      if (url.startsWith("data:")) {
        ceiling -= url.length;
        eighths -= eighthsOf(url.length, url.length);
      }
      ceiling += MAX_IMAGE_TOKENS;
      eighths += 8 * DEFAULT_IMAGE_TOKENS;
      continue;
    }
    const data = memberOf(part["input_audio"], "data") ?? memberOf(part["file"], "file_data");
    if (data === undefined) continue;
    eighths -= eighthsOf(data.length, data.length);
    eighths += (8 * data.length) / MEDIA_CHARACTERS_PER_TOKEN;
  }
  return { inputCeiling: Math.max(ceiling, 1), estimatedInput: Math.max(wholeTokens(eighths), 1) };
}

function* partsOf(messages: unknown): Generator<Record<string, unknown>> {
  if (!Array.isArray(messages)) return;
  for (const message of messages) {
    const content: unknown = isObject(message) ? message["content"] : undefined;
    if (!Array.isArray(content)) continue;
    for (const part of content) if (isObject(part)) yield part;
  }
}

function memberOf(value: unknown, name: string): string | undefined {
  const member = isObject(value) ? value[name] : undefined;
  return typeof member === "string" ? member : undefined;
}
