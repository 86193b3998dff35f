import { isObject } from "../../../lib/json.ts";
import { tokenEighths } from "../../token-estimate.ts";

/** What vendors count for one generated image (Gemini API, token counting). */
const IMAGE_TOKENS = 1_290;

/**
 * Estimated size, in eighths of a token, of everything in a candidate that a vendor counts as output. The pieces of a
 * stream add up to the size of the whole.
 */
export function candidateEighths(candidate: Record<string, unknown>): number {
  let eighths = 0;
  for (const part of partsOf(candidate)) {
    const { text, functionCall, executableCode, inlineData } = part;
    if (typeof text === "string") eighths += tokenEighths(text);
    if (isObject(functionCall)) eighths += callEighths(functionCall);
    if (isObject(executableCode)) eighths += tokenEighths(String(executableCode["code"] ?? ""));
    if (isObject(inlineData)) eighths += 8 * IMAGE_TOKENS;
  }
  return eighths;
}

/** Arguments come whole, or as pieces of values (`streamFunctionCallArguments`). */
function callEighths({ name, args, partialArgs }: Record<string, unknown>): number {
  let eighths = typeof name === "string" ? tokenEighths(name) : 0;
  if (isObject(args)) eighths += tokenEighths(JSON.stringify(args));
  if (Array.isArray(partialArgs)) eighths += tokenEighths(JSON.stringify(partialArgs));
  return eighths;
}

/** The objects in the candidates of a reply. */
export function candidatesOf(body: Record<string, unknown>): Record<string, unknown>[] {
  return objectsIn(body["candidates"]);
}

/** The parts of a candidate; the vendor leaves them out where there are none. */
export function partsOf({ content }: Record<string, unknown>): Record<string, unknown>[] {
  return isObject(content) ? objectsIn(content["parts"]) : [];
}

/** Why the vendor refused the prompt; null where it did not. */
export function blockReasonOf({ promptFeedback }: Record<string, unknown>): string | null {
  const reason = isObject(promptFeedback) ? promptFeedback["blockReason"] : undefined;
  return typeof reason === "string" && reason !== "BLOCK_REASON_UNSPECIFIED" ? reason : null;
}

/** Why a candidate ended; null while it goes on. */
export function finishReasonOf({ finishReason }: Record<string, unknown>): string | null {
  return typeof finishReason === "string" && finishReason !== "FINISH_REASON_UNSPECIFIED"
    ? finishReason
    : null;
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
