import type { TextPayload, TextRequest } from "../dialect.ts";
import { readFeatures } from "./features.ts";
import { checkFields, checkNames } from "./fields.ts";
import { readReferences } from "./parts.ts";
import { InputSize } from "../input-size.ts";
import { readBody, requireModelName } from "../request-body.ts";
import { isObject, type Span } from "../../lib/json.ts";

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
  const size = inputSize(bytes.length, raw.length, body["messages"]);
  const { files, linkParam } = readReferences(body["messages"], size);
  return {
    dialect: "chat",
    raw,
    headers: {},
    parsed: {
      model,
      isStream: body["stream"] === true,
      maxTokens: largerOf(integer(body["max_completion_tokens"]), integer(body["max_tokens"])),
      choices: largerOf(integer(body["n"]), integer(body["best_of"])) ?? 1,
      ...size.tokens,
      features: [...readFeatures(body), ...files],
      linkParam,
      body,
      spans: { model: modelSpan, streamOptions, bodyStart },
    },
  };
}

/** Vendors obey the one or the other, or bill what the larger one makes them write, and the hold must cover both. */
function largerOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function integer(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** The sizes of a prompt, from the bytes of its body and their UTF-16 code units, with the media that it holds. */
function inputSize(bytes: number, units: number, messages: unknown): InputSize {
  const size = new InputSize(bytes, units);
  for (const part of partsOf(messages)) {
    const { image_url: image } = part;
    const url = typeof image === "string" ? image : memberOf(image, "url");
    if (url !== undefined) size.addImage(url.startsWith("data:") ? url : null);
    else {
      const data = memberOf(part["input_audio"], "data") ?? memberOf(part["file"], "file_data");
      if (data !== undefined) size.addMedia(data);
    }
  }
  return size;
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
