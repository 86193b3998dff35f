import { isObject } from "../../../lib/json.ts";
import type { StreamedObject } from "../../../lib/json-spool.ts";
import type { TextPayload, TextRequest } from "../../dialect.ts";
import { readBody } from "../../request-body.ts";
import { readFeatures } from "../features.ts";
import { findField, findObject } from "../fields.ts";
import { checkBody } from "./checks.ts";
import { readMedia } from "./media.ts";

export type NativeRequest = TextRequest & { body: StreamedObject };

export type NativePayload = TextPayload<NativeRequest>;

/** What the address of a call says of it. */
export interface NativeCall {
  model: string;
  isStream: boolean;
}

/**
 * Reads and checks the bytes of a `generateContent` request for a text model, under the camel-case or the snake-case
 * names of its fields (Gemini API reference, `GenerateContentRequest`). Throws a `GatewayError`.
 */
export function readRequest(bytes: Uint8Array, call: NativeCall): NativePayload {
  const { raw, body } = readBody(bytes, []);
  return readParsed(raw, body, call);
}

/** Reads a request whose tokens are to be counted: the same one, or inside of `generateContentRequest`. */
export function readCountRequest(bytes: Uint8Array, model: string): NativePayload {
  const { raw, body, spans } = readBody(bytes, ["generateContentRequest", "generate_content_request"]);
  const span = spans.find((each) => each !== undefined);
  const inner = body["generateContentRequest"] ?? body["generate_content_request"];
  const call = { model, isStream: false };
  return span && isObject(inner)
    ? readParsed(raw.slice(span.start, span.end), inner, call)
    : readParsed(raw, body, call);
}

function readParsed(
  raw: string,
  parsed: Record<string, unknown>,
  { model, isStream }: NativeCall,
): NativePayload {
  // Parsed JSON is streamed JSON of which nothing is on disk.
  const body = parsed as StreamedObject;
  checkBody(body);
  const config = configOf(body);
  const { files, linkParam, size } = readMedia(body, Buffer.byteLength(raw), raw.length);
  const cache = findField(body, "cachedContent");
  return {
    dialect: "native",
    raw,
    headers: {},
    parsed: {
      model,
      isStream,
      maxTokens: numberIn(config, "maxOutputTokens"),
      choices: numberIn(config, "candidateCount") ?? 1,
      ...size,
      features: [
        ...readFeatures(body, config),
        ...files,
        // A cache is an object in the operator's account, and its storage is billed apart.
        ...(cache ? [{ feature: null, param: cache.key }] : []),
      ],
      linkParam,
      body,
    },
  };
}

export function configOf(body: StreamedObject): StreamedObject {
  return findObject(body, "generationConfig")?.value ?? {};
}

/** A number among the fields, which have been checked; null where it is absent. */
export function numberIn(object: StreamedObject, name: string): number | null {
  const value = findField(object, name)?.value;
  return typeof value === "number" ? value : null;
}
