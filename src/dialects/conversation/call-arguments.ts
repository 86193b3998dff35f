import { UpstreamError } from "../../domain/upstream-error.ts";
import { parseBounded } from "../../lib/parse-json.ts";
import { RawJson } from "../../lib/json-edit.ts";
import { isObject } from "../../lib/json.ts";
import type { Reply } from "./reply.ts";

/**
 * Returns the arguments of a tool call as the unchanged text of an object. Empty text and `null` become an empty
 * object. Returns null when the text is not an object.
 */
export function readArguments(text: string): RawJson | null {
  if (text.trim() === "") return new RawJson("{}");
  try {
    const value = parseBounded(text);
    if (value === null) return new RawJson("{}");
    return isObject(value) ? new RawJson(text) : null;
  } catch {
    return null;
  }
}

/**
 * Returns the reply if it was cut or refused, or if the arguments of all its function calls are objects. Otherwise
 * throws a `broken` error, because a client would run a tool with arguments that the model did not intend.
 */
export function requireArguments(reply: Reply): Reply {
  const isCut = reply.finish.reason === "length" || reply.finish.reason === "refused";
  if (isCut || !reply.parts.some(({ type }) => type === "tool_call")) return reply;
  const parts = reply.parts.map((part) => {
    if (part.type !== "tool_call" || part.kind !== "function") return part;
    const read = readArguments(part.arguments);
    if (!read) throw new UpstreamError("broken", "a call with malformed arguments");
    return read.text === part.arguments ? part : { ...part, arguments: read.text };
  });
  return { ...reply, parts };
}
