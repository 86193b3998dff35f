import type { TextPayload, TextRequest, VendorTerms } from "../dialect.ts";
import { readFeatures } from "./features.ts";
import { checkFields, checkNames } from "./fields.ts";
import { readReferences } from "./parts.ts";
import { InputSize } from "../input-size.ts";
import { readBody, requireModelName } from "../request-body.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { isObject, splice, type Span } from "../../lib/json.ts";

export interface ChatRequest extends TextRequest {
  spans: { model: Span | undefined; streamOptions: Span | undefined; bodyStart: number };
}

export type ChatPayload = TextPayload<ChatRequest>;

/** Reads and checks a request's bytes. Throws a `GatewayError` whose `param` names the field to change. */
export function readRequest(bytes: Uint8Array): ChatPayload {
  const { raw, body, spans, bodyStart } = readBody(bytes, ["model", "stream_options"]);
  const model = requireModelName(body);
  const [modelSpan, streamOptions] = spans;
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
      spans: { model: modelSpan, streamOptions, bodyStart },
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
  if (upstreamModel !== model && spans.model)
    edits.push({ span: spans.model, text: JSON.stringify(upstreamModel) });
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

/** Vendors obey the one or the other, and the hold must cover both. */
function largerOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function integer(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** Both sizes of a prompt, from the bytes of its body and their UTF-16 code units. */
function inputSize(bytes: number, units: number, messages: unknown): InputSize["tokens"] {
  const size = new InputSize(bytes, units);
  for (const part of partsOf(messages)) {
    const url = memberOf(part["image_url"], "url");
    if (url !== undefined) size.addImage(url.startsWith("data:") ? url : null);
    else {
      const data = memberOf(part["input_audio"], "data") ?? memberOf(part["file"], "file_data");
      if (data !== undefined) size.addMedia(data);
    }
  }
  return size.tokens;
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
