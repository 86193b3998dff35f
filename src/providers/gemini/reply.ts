import type { ImageReply } from "../../domain/image.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { saneCount } from "../../domain/usage.ts";
import { decodeBase64 } from "../../lib/base64.ts";
import { isObject } from "../../lib/json.ts";
import { brokenResponse } from "../transport/http.ts";
import type { ExtractedJson } from "../transport/extracted-json.ts";
import { contentRefused, type Redaction } from "./errors.ts";

/**
 * Reads an answer whose status says success: its final pictures, never the drafts among its thoughts (Gemini API
 * reference, `GenerateContentResponse`). Throws `refused` where the vendor blocked prompt or picture, and `broken`
 * where it drew none.
 */
export function readReply(parsed: unknown, { json, redaction }: ReplyContext): ImageReply {
  if (!isObject(parsed)) throw brokenResponse("gave no object");
  const candidates = listOf(parsed["candidates"]);
  const images = candidates.flatMap(partsOf).flatMap((part) => readImage(part, json) ?? []);
  if (images.length > 0) return { images, usage: readUsage(parsed["usageMetadata"]) };
  throw pictureless(parsed["promptFeedback"], candidates[0], redaction);
}

export interface ReplyContext {
  /** What lifted the pictures out of the answer. */
  json: ExtractedJson;
  redaction: Redaction;
}

/** Reasons to end that mean a refusal of what was drawn (Gemini API reference, `FinishReason`). */
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
  const { content } = candidate;
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
  const extracted = json.extracted(data);
  if (extracted) return extracted;
  const bytes = decodeBase64(data);
  if (!bytes) throw brokenResponse("gave an image that is no base64");
  return new Blob([new Uint8Array(bytes)]);
}

/** Nothing was drawn and nothing is charged for, so asking again elsewhere is safe. */
function pictureless(
  feedback: unknown,
  candidate: Record<string, unknown> | undefined,
  redaction: Redaction,
): UpstreamError {
  const blocked = isObject(feedback) ? feedback["blockReason"] : undefined;
  if (isObject(feedback) && typeof blocked === "string" && blocked !== "")
    return contentRefused(`blocked the prompt: ${blocked}`, feedback["blockReasonMessage"], redaction);
  const reason = candidate?.["finishReason"];
  if (REFUSALS.has(reason))
    return contentRefused(`blocked the picture: ${String(reason)}`, candidate?.["finishMessage"], redaction);
  const said = typeof reason === "string" ? reason.slice(0, 40) : "no reason";
  return new UpstreamError("broken", `the vendor drew no picture: ${said}`, {
    status: 200,
    isByRequest: true,
  });
}

/** Absent counts are zero in this protocol, but for the prompt's; an impossible one means no report. */
function readUsage(usage: unknown): ImageReply["usage"] {
  if (!isObject(usage)) return undefined;
  const prompt = saneCount(usage["promptTokenCount"]);
  const tools = saneCount(usage["toolUsePromptTokenCount"] ?? 0);
  const answered = saneCount(usage["candidatesTokenCount"] ?? 0);
  const thoughts = saneCount(usage["thoughtsTokenCount"] ?? 0);
  if (prompt === null || tools === null || answered === null || thoughts === null) return undefined;
  const [input, output] = [prompt + tools, answered + thoughts];
  return { input, output, total: saneCount(usage["totalTokenCount"]) ?? input + output };
}
