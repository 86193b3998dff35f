import { GatewayError } from "../domain/gateway-error.ts";
import { JSON_BOUNDS, moreThan } from "../lib/parse-json.ts";
import { exceededBound, hasRepeatedName, isObject, scanObject, type JsonSpan } from "../lib/json.ts";

/** The body of a text request: its exact text, its parsed value, and the positions of some values in the text. */
interface RequestBody {
  raw: string;
  body: Record<string, unknown>;
  /** Positions of the values of the requested fields. Undefined for an absent field. */
  spans: (JsonSpan | undefined)[];
  /** Index of the character after the opening brace. */
  bodyStart: number;
}

const decoder = new TextDecoder("utf-8", { fatal: true });
/** A body with more bytes is first checked for too many values, because parsing these could block the event loop. */
const LARGE_BYTES = 256 * 1024;
const TOO_DEEP = `The request body is nested more than ${JSON_BOUNDS.depth} levels deep.`;

/**
 * Parses the body of a text request. The text of the body is also sent to vendors. Throws a `GatewayError` for text
 * that is not a JSON object, for too many levels, for a repeated field, and for the field `provider`.
 */
export function readBody(bytes: Uint8Array, names: readonly string[]): RequestBody {
  const read = readUnambiguous(bytes, names);
  if (Object.hasOwn(read.body, "provider")) {
    const message = "Remove `provider`: the gateway chooses the provider by itself.";
    throw new GatewayError("provider_not_allowed", message, { param: "provider" });
  }
  return read;
}

/** Parses the text of a JSON object. Throws a `GatewayError` for other text, deep nesting and a repeated field. */
export function readUnambiguous(bytes: Uint8Array, names: readonly string[] = []): RequestBody {
  const { raw, body } = readObject(bytes);
  const scan = scanObject(raw, names);
  if (scan.depth > JSON_BOUNDS.depth) throw malformed(TOO_DEEP);
  if (hasRepeatedName(scan, body)) throw malformed("The request body names a field twice at its top level.");
  return { raw, body, spans: scan.spans, bodyStart: scan.bodyStart };
}

/** Returns the value of `model`. Throws `model_required` when it is missing or empty. */
export function requireModelName(body: Record<string, unknown>): string {
  const { model } = body;
  if (typeof model === "string" && model !== "") return model;
  throw new GatewayError("model_required", "Set `model` to the id of a model.", { param: "model" });
}

/** Decodes and parses the text of a JSON object. Throws a `GatewayError` for any other text and for too many values. */
export function readObject(bytes: Uint8Array): { raw: string; body: Record<string, unknown> } {
  const raw = readText(bytes);
  const exceeded = bytes.length > LARGE_BYTES ? exceededBound(raw, JSON_BOUNDS) : null;
  if (exceeded === "depth") throw malformed(TOO_DEEP);
  if (exceeded) throw malformed(`The request body has ${moreThan(exceeded)}.`);
  let body: unknown;
  try {
    body = JSON.parse(raw);
  } catch {
    throw malformed("The request body is not valid JSON in UTF-8.");
  }
  if (!isObject(body)) throw malformed("The request body must be a JSON object.");
  return { raw, body };
}

/** Decodes the bytes. Encoding the result gives these bytes again, except for a byte order mark. */
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
