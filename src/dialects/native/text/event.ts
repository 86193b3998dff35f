import { UpstreamError, type UpstreamErrorKind } from "../../../domain/upstream-error.ts";
import { isObject, ownValue } from "../../../lib/json.ts";
import type { SizedText } from "../../stream-meter.ts";
import { parseVendorObject } from "../../sse/vendor-frames.ts";

/**
 * Parses a vendor's whole reply or one event of its stream. Both have the same form. Throws an `UpstreamError` for an
 * error and for a value that is not an object.
 */
export function parseEvent(text: string, parse?: (text: string) => unknown): Record<string, unknown> {
  return requireEvent(parseVendorObject(text, "an event", parse));
}

/** Returns a parsed reply or event. Throws an `UpstreamError` for an error and for a value that is not an object. */
export function requireEvent(event: unknown): Record<string, unknown> {
  if (!isObject(event)) throw new UpstreamError("broken", "an event is not an object");
  if (event["error"]) throw inStreamError(event["error"]);
  return event;
}

/** Kinds of failures by canonical code (google.rpc.Code). All other codes mean a problem of the vendor. */
const KINDS: Readonly<Record<string, UpstreamErrorKind>> = {
  RESOURCE_EXHAUSTED: "limited",
  UNAUTHENTICATED: "account",
  PERMISSION_DENIED: "account",
  INVALID_ARGUMENT: "rejected",
};

/** Returns the error for a failure in a reply or a running stream. Vendors report it in the field `error`. */
function inStreamError(error: unknown): UpstreamError {
  const { status = "", code = "", message = error } = isObject(error) ? error : {};
  const named = `${String(status)} ${String(code)}`.replace(/[^\w./ -]/g, "?").slice(0, 100);
  const vendorMessage = String(message).slice(0, 300);
  const kind = saysTooLong(vendorMessage) ? "too_long" : (ownValue(KINDS, String(status)) ?? "overloaded");
  return new UpstreamError(kind, `error inside the stream: ${named}`, { vendorMessage });
}

/** True when the message says that the input is too long. Vendors have no error code for this case. */
export function saysTooLong(sentence: string): boolean {
  return /token count .{0,40}exceeds the maximum number of tokens|exceeds the (?:model's )?context/i.test(
    sentence,
  );
}

/** Number of tokens that vendors count for one generated image (Gemini API, token counting). */
const IMAGE_TOKENS = 1_290;

/** Adds all content that a vendor counts as output. The sizes of pieces add up to the size of the candidate. */
export function addCandidate(sized: SizedText, candidate: Record<string, unknown>): void {
  for (const part of partsOf(candidate)) {
    const { text, functionCall, executableCode, inlineData } = part;
    if (typeof text === "string") sized.add(text);
    if (isObject(functionCall)) addCall(sized, functionCall);
    if (isObject(executableCode)) sized.add(String(executableCode["code"] ?? ""));
    if (isObject(inlineData)) sized.addTokens(IMAGE_TOKENS);
  }
}

/** Adds a tool call. Its arguments are whole, or are pieces of values (`streamFunctionCallArguments`). */
function addCall(sized: SizedText, { name, args, partialArgs }: Record<string, unknown>): void {
  if (typeof name === "string") sized.add(name);
  if (isObject(args)) sized.add(JSON.stringify(args));
  if (Array.isArray(partialArgs)) sized.add(JSON.stringify(partialArgs));
}

/** Returns the candidates (alternative replies) that are objects. */
export function candidatesOf(body: Record<string, unknown>): Record<string, unknown>[] {
  return objectsIn(body["candidates"]);
}

/** Returns the parts of a candidate; an empty list when the vendor omitted the parts. */
export function partsOf({ content }: Record<string, unknown>): Record<string, unknown>[] {
  return isObject(content) ? objectsIn(content["parts"]) : [];
}

/** Returns the vendor's reason for blocking the prompt; null when the prompt was not blocked. */
export function blockReasonOf({ promptFeedback }: Record<string, unknown>): string | null {
  const reason = isObject(promptFeedback) ? promptFeedback["blockReason"] : undefined;
  return typeof reason === "string" && reason !== "BLOCK_REASON_UNSPECIFIED" ? reason : null;
}

/** Returns the reason why a candidate ended; null while it continues. */
export function finishReasonOf({ finishReason }: Record<string, unknown>): string | null {
  return typeof finishReason === "string" && finishReason !== "FINISH_REASON_UNSPECIFIED"
    ? finishReason
    : null;
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
