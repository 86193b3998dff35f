import {
  INPUT_CATEGORIES,
  OUTPUT_CATEGORIES,
  saneCount,
  sumTokens,
  type TokenCounts,
  type TokenUsage,
  type UsageReport,
} from "../../../domain/usage.ts";
import { isObject } from "../../../lib/json.ts";
import { editMembers } from "../../../lib/json-edit.ts";

/** `usageMetadata`, as callers receive it (Gemini API reference, `UsageMetadata`). */
interface UsageMetadata {
  promptTokenCount: number;
  candidatesTokenCount: number;
  totalTokenCount: number;
  cachedContentTokenCount?: number;
  thoughtsTokenCount?: number;
}

/**
 * Reads a vendor's usage into disjoint categories; null when there is no report. Cached tokens count inside the
 * prompt, thoughts beside the candidates unless the total shows that they are among them. A count of zero is left out
 * of this protocol's JSON.
 */
export function readUsage(value: unknown): UsageReport | null {
  if (!isObject(value)) return null;
  let isAnomalous = false;
  const count = (name: string): number | null => {
    const found = value[name];
    if (found === undefined || found === null) return null;
    const sane = saneCount(found);
    if (sane === null) isAnomalous = true;
    return sane;
  };
  const part = (name: string, max: number): number => {
    const found = count(name) ?? 0;
    if (found > max) isAnomalous = true;
    return Math.min(found, max);
  };
  const prompt = count("promptTokenCount");
  const candidates = count("candidatesTokenCount");
  const total = count("totalTokenCount");
  const input = (prompt ?? 0) + (count("toolUsePromptTokenCount") ?? 0);
  const cacheRead = part("cachedContentTokenCount", prompt ?? 0);
  const isInside = candidates !== null && total === input + candidates;
  const reasoning = isInside ? part("thoughtsTokenCount", candidates) : (count("thoughtsTokenCount") ?? 0);
  const output = (candidates ?? 0) - (isInside ? reasoning : 0);
  const imageOutput = imagesAmong(value["candidatesTokensDetails"], output);
  const tokens: TokenCounts = { input: input - cacheRead, output: output - imageOutput };
  if (cacheRead) tokens.cacheRead = cacheRead;
  if (reasoning) tokens.reasoning = reasoning;
  if (imageOutput) tokens.imageOutput = imageOutput;
  const hasOutput = candidates !== null || (prompt !== null && !isAnomalous);
  return { tokens, hasInput: prompt !== null, hasOutput, isAnomalous };
}

/** Tokens of pictures among the candidates'. */
function imagesAmong(details: unknown, output: number): number {
  if (!Array.isArray(details)) return 0;
  const pictures = details.find((each) => isObject(each) && each["modality"] === "IMAGE");
  return Math.min(saneCount(pictures?.["tokenCount"]) ?? 0, output);
}

/** Writes a usage as the native protocol does; the total is always the sum. */
export function writeUsage({ tokens }: TokenUsage): UsageMetadata {
  const prompt = sumTokens(tokens, INPUT_CATEGORIES);
  const output = sumTokens(tokens, OUTPUT_CATEGORIES);
  const { cacheRead, reasoning = 0 } = tokens;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: output - reasoning,
    totalTokenCount: prompt + output,
    ...(cacheRead && { cachedContentTokenCount: cacheRead }),
    ...(reasoning && { thoughtsTokenCount: reasoning }),
  };
}

/** A vendor's `usageMetadata`, as text, with the billed numbers in place of its own; what else it reports stays. */
export function correctedUsage(text: string | undefined, usage: TokenUsage): string {
  const billed = writeUsage(usage);
  if (text === undefined || !isObject(JSON.parse(text))) return JSON.stringify(billed);
  const ifPresent = (count: number) => (old: string | undefined) =>
    old === undefined && count === 0 ? undefined : String(count);
  return editMembers(text, {
    promptTokenCount: () => String(billed.promptTokenCount),
    candidatesTokenCount: () => String(billed.candidatesTokenCount),
    totalTokenCount: () => String(billed.totalTokenCount),
    cachedContentTokenCount: ifPresent(billed.cachedContentTokenCount ?? 0),
    thoughtsTokenCount: ifPresent(billed.thoughtsTokenCount ?? 0),
    toolUsePromptTokenCount: (old) => (old === undefined ? undefined : "0"),
  });
}
