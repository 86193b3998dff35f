import {
  INPUT_CATEGORIES,
  OUTPUT_CATEGORIES,
  sumTokens,
  type TokenCounts,
  type TokenUsage,
  type UsageReport,
} from "../../../domain/usage.ts";
import { isObject } from "../../../lib/json.ts";
import { CountReader } from "../../usage-reading.ts";
import { editMembers } from "../../../lib/json-edit.ts";

/** The object `usageMetadata` for callers (Gemini API reference, `UsageMetadata`). */
interface UsageMetadata {
  promptTokenCount: number;
  candidatesTokenCount: number;
  totalTokenCount: number;
  cachedContentTokenCount?: number;
  thoughtsTokenCount?: number;
}

/**
 * Reads a vendor's usage into disjoint categories; null when there is no usage. The prompt includes cached tokens. The
 * candidates exclude reasoning, except when the total shows that reasoning is included. The JSON of this protocol omits
 * zero counts.
 */
export function readUsage(value: unknown): UsageReport | null {
  if (!isObject(value)) return null;
  const counts = new CountReader();
  const prompt = counts.read(value["promptTokenCount"]);
  const candidates = counts.read(value["candidatesTokenCount"]);
  const ofTools = counts.read(value["toolUsePromptTokenCount"]) ?? 0;
  const thoughts = value["thoughtsTokenCount"];
  const total = value["totalTokenCount"];
  const input = (prompt ?? 0) + ofTools;
  const cacheRead = counts.readPart(value["cachedContentTokenCount"], prompt ?? 0);
  const isInside = candidates !== null && total === input + candidates;
  const reasoning = isInside ? counts.readPart(thoughts, candidates) : (counts.read(thoughts) ?? 0);
  const output = (candidates ?? 0) - (isInside ? reasoning : 0);
  const imageOutput = counts.readPart(imagesAmong(value["candidatesTokensDetails"]), output);
  if (prompt !== null) counts.checkTotal(total, input + output + reasoning, prompt + output + reasoning);
  const tokens: TokenCounts = { input: input - cacheRead, output: output - imageOutput };
  if (cacheRead) tokens.cacheRead = cacheRead;
  if (reasoning) tokens.reasoning = reasoning;
  if (imageOutput) tokens.imageOutput = imageOutput;
  const { isAnomalous } = counts;
  const hasOutput = candidates !== null || (prompt !== null && !isAnomalous);
  return { tokens, hasInput: prompt !== null, hasOutput, isAnomalous };
}

/** Returns the reported number of picture tokens in the candidates. */
function imagesAmong(details: unknown): unknown {
  if (!Array.isArray(details)) return undefined;
  const pictures: unknown = details.find((each) => isObject(each) && each["modality"] === "IMAGE");
  return isObject(pictures) ? pictures["tokenCount"] : undefined;
}

/**
 * True when this usage shows the billed numbers to a caller. Reasoning must not be counted in the candidates: clients
 * add reasoning to the candidates, so it would count twice.
 */
export function showsBilled(value: unknown, billed: TokenUsage): boolean {
  if (!isObject(value)) return false;
  const shown = writeUsage(billed);
  const counts = new CountReader();
  const count = (name: string) => counts.read(value[name]) ?? 0;
  return (
    count("promptTokenCount") + count("toolUsePromptTokenCount") === shown.promptTokenCount &&
    count("cachedContentTokenCount") === (shown.cachedContentTokenCount ?? 0) &&
    count("candidatesTokenCount") === shown.candidatesTokenCount &&
    count("thoughtsTokenCount") === (shown.thoughtsTokenCount ?? 0) &&
    !counts.isAnomalous
  );
}

/** Writes the usage for the native protocol. The total is always the sum of prompt and output. */
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

/** Returns the text of a vendor's `usageMetadata` with the billed numbers. Other fields stay unchanged. */
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
