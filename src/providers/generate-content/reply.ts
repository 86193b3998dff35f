import type { ImageReply } from "../../domain/image.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { saneCount } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { readImageUsage } from "../images/image-usage.ts";
import type { ExtractedJson } from "../transport/extracted-json.ts";
import { brokenResponse } from "../transport/http.ts";
import { textOf, type VendorErrors } from "../transport/vendor-errors.ts";

/**
 * Reads a response of success: its final pictures without the drafts among its thoughts (Gemini API reference,
 * `GenerateContentResponse`). Throws `refused` where the vendor blocked prompt or picture, `broken` where it made none.
 */
export function readGenerateReply(parsed: unknown, json: ExtractedJson, errors: VendorErrors): ImageReply {
  if (!isObject(parsed)) throw brokenResponse("gave no object");
  const candidates = listOf(parsed["candidates"]);
  const images = candidates.flatMap(partsOf).flatMap((part) => readImage(part, json) ?? []);
  if (images.length > 0) return { images, usage: readUsage(parsed["usageMetadata"]) };
  throw noImage(parsed["promptFeedback"], candidates[0], errors);
}

/** Reasons that mean a refusal of the picture (Gemini API reference, `FinishReason`). */
const REFUSALS: ReadonlySet<unknown> = new Set([
  "SAFETY",
  "RECITATION",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
]);

function partsOf(candidate: Record<string, unknown>): Record<string, unknown>[] {
  const { content } = candidate ?? {};
  return isObject(content) ? listOf(content["parts"]) : [];
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function readImage(part: Record<string, unknown>, json: ExtractedJson): Blob | undefined {
  const { inlineData } = part;
  if (part["thought"] === true || !isObject(inlineData)) return undefined;
  const { mimeType, data } = inlineData;
  if (typeof mimeType !== "string" || !mimeType.startsWith("image/")) return undefined;
  if (typeof data !== "string" || data === "") return undefined;
  return json.image(data);
}

/** Nothing was made and nothing is charged, so a repeated call is safe. */
function noImage(
  feedback: unknown,
  candidate: Record<string, unknown> | undefined,
  errors: VendorErrors,
): UpstreamError {
  const { blockReason, blockReasonMessage } = isObject(feedback) ? feedback : {};
  const { finishReason, finishMessage } = candidate ?? {};
  if (textOf(blockReason) !== "")
    return refused(`blocked prompt: ${textOf(blockReason)}`, blockReasonMessage, errors);
  if (REFUSALS.has(finishReason))
    return refused(`blocked picture: ${textOf(finishReason)}`, finishMessage, errors);
  const reason = textOf(finishReason).slice(0, 40) || "no reason";
  return new UpstreamError("broken", `the vendor made no picture: ${reason}`, {
    status: 200,
    isByRequest: true,
  });
}

function refused(code: string, message: unknown, errors: VendorErrors): UpstreamError {
  return errors.raise("refused", { code, message: textOf(message) }, 200);
}

/** Absent counts are zero in this protocol, except the prompt's. */
function readUsage(usage: unknown): ImageReply["usage"] {
  if (!isObject(usage)) return undefined;
  const { promptTokenCount, toolUsePromptTokenCount = 0 } = usage;
  const { candidatesTokenCount = 0, thoughtsTokenCount = 0, totalTokenCount } = usage;
  return readImageUsage(
    sumOf(promptTokenCount, toolUsePromptTokenCount),
    sumOf(candidatesTokenCount, thoughtsTokenCount),
    totalTokenCount,
  );
}

/** No number where one of both is impossible. */
function sumOf(first: unknown, second: unknown): number {
  return (saneCount(first) ?? Number.NaN) + (saneCount(second) ?? Number.NaN);
}
