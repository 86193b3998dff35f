import type { ImageReply } from "../../domain/image.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { saneCount } from "../../domain/usage.ts";
import { isObject, textOf } from "../../lib/json.ts";
import { isStreamedObject, type StreamedJson, type StreamedObject } from "../../lib/json-spool.ts";
import { readImageUsage } from "../images/image-usage.ts";
import { imageOf } from "../transport/image-json.ts";
import { type VendorErrors } from "../transport/vendor-errors.ts";

/**
 * Reads a successful response: its final pictures, without the drafts among its thoughts (Gemini API reference,
 * `GenerateContentResponse`). Throws `refused` when the vendor blocked the prompt or the picture. Throws `broken` when
 * there is no picture for another reason.
 */
export function readGenerateReply(parsed: StreamedObject, errors: VendorErrors): ImageReply {
  const candidates = listOf(parsed["candidates"]);
  const images = candidates.flatMap(partsOf).flatMap((part) => readImage(part) ?? []);
  if (images.length > 0) return { images, usage: readUsage(parsed["usageMetadata"]) };
  throw noImage(parsed["promptFeedback"], candidates[0], errors);
}

/** Finish reasons that mean a refused picture (Gemini API reference, `FinishReason`). */
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

function partsOf(candidate: StreamedObject): StreamedObject[] {
  const { content } = candidate;
  return isStreamedObject(content) ? listOf(content["parts"]) : [];
}

function listOf(value: StreamedJson | undefined): StreamedObject[] {
  return Array.isArray(value) ? value.filter(isStreamedObject) : [];
}

function readImage(part: StreamedObject): Blob | undefined {
  const { inlineData } = part;
  if (part["thought"] === true || !isStreamedObject(inlineData)) return undefined;
  const { mimeType, data } = inlineData;
  if (typeof mimeType !== "string" || !mimeType.startsWith("image/")) return undefined;
  return imageOf(data);
}

/** Returns the error for a response without a picture. Such a response is not charged: a repeated call is safe. */
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

/** Reads the usage. In this protocol an absent count means zero, except for the count of the prompt. */
function readUsage(usage: unknown): ImageReply["usage"] {
  if (!isObject(usage)) return undefined;
  const { promptTokenCount, toolUsePromptTokenCount = 0 } = usage;
  const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usage;
  return readImageUsage({
    input: sumOf(promptTokenCount, toolUsePromptTokenCount),
    output: sumOf(candidatesTokenCount, thoughtsTokenCount),
    inputDetails: detailsOf(usage["promptTokensDetails"]),
    outputDetails: detailsOf(usage["candidatesTokensDetails"]),
  });
}

/** Reads the details of a count, by kind of token. Kinds other than text and image are only in the total. */
function detailsOf(list: unknown): { text: unknown; image: unknown } | undefined {
  if (!Array.isArray(list)) return undefined;
  const countOf = (modality: string): unknown => {
    const entry: unknown = list.find((item) => isObject(item) && item["modality"] === modality);
    return isObject(entry) ? (entry["tokenCount"] ?? 0) : 0;
  };
  return { text: countOf("TEXT"), image: countOf("IMAGE") };
}

/** Returns the sum of two counts; NaN when a count is impossible. */
function sumOf(first: unknown, second: unknown): number {
  return (saneCount(first) ?? Number.NaN) + (saneCount(second) ?? Number.NaN);
}
