import { isObject } from "../../lib/json.ts";
import { saneCount, type TokenCounts, type TokenUsage } from "../../domain/usage.ts";

/** The `usage` object of chat completions, as it is told to callers. */
export interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: { cached_tokens: number };
  completion_tokens_details?: { reasoning_tokens: number };
}

/** Other names under which vendors report tokens written to a cache. */
const CACHE_WRITE_NAMES = ["cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens"];

/**
 * Reads a vendor's usage into disjoint categories. The numbers are hostile input: what is impossible is clamped
 * and flagged. Cached tokens count inside `prompt_tokens`, reasoning inside `completion_tokens`; a vendor that
 * reports more reasoning than completion counts it outside (xAI). Null when there is nothing usable.
 */
export function readUsage(value: unknown): TokenUsage | null {
  if (!isObject(value)) return null;
  let isAnomalous = false;
  const count = (number: unknown): number => {
    if (number === undefined || number === null) return 0;
    const sane = saneCount(number);
    if (sane === null) isAnomalous = true;
    return sane ?? 0;
  };
  const part = (number: unknown, max: number): number => {
    const asked = count(number);
    if (asked > max) isAnomalous = true;
    return Math.min(asked, max);
  };
  if (saneCount(value["prompt_tokens"]) === null && saneCount(value["completion_tokens"]) === null)
    return null;
  const prompt = count(value["prompt_tokens"]);
  const completion = count(value["completion_tokens"]);
  const inputDetails = isObject(value["prompt_tokens_details"]) ? value["prompt_tokens_details"] : {};
  const outputDetails = isObject(value["completion_tokens_details"])
    ? value["completion_tokens_details"]
    : {};
  const cacheRead = part(inputDetails["cached_tokens"] ?? value["prompt_cache_hit_tokens"], prompt);
  const written = CACHE_WRITE_NAMES.map((name) => inputDetails[name]).find((found) => found !== undefined);
  const cacheWrite = part(written, prompt - cacheRead);
  const imageInput = part(inputDetails["image_tokens"], prompt - cacheRead - cacheWrite);
  const reported = count(outputDetails["reasoning_tokens"]);
  const total = saneCount(value["total_tokens"]);
  const isReasoningOutside = reported > 0 && total === prompt + completion + reported;
  const reasoning = isReasoningOutside ? reported : part(reported, completion);
  const imageOutput = part(outputDetails["image_tokens"], completion - (isReasoningOutside ? 0 : reasoning));
  const tokens: TokenCounts = {
    input: prompt - cacheRead - cacheWrite - imageInput,
    output: completion - (isReasoningOutside ? 0 : reasoning) - imageOutput,
  };
  if (cacheRead) tokens.cacheRead = cacheRead;
  if (cacheWrite) tokens.cacheWrite = cacheWrite;
  if (imageInput) tokens.imageInput = imageInput;
  if (imageOutput) tokens.imageOutput = imageOutput;
  if (reasoning) tokens.reasoning = reasoning;
  return { unit: "token", tokens, source: "upstream", ...(isAnomalous ? { anomalous: true } : {}) };
}

/** Says a usage in the words of chat completions; the total is always the sum. */
export function writeUsage({ tokens }: TokenUsage): ChatUsage {
  const of = (name: keyof TokenCounts): number => tokens[name] ?? 0;
  const prompt = of("input") + of("cacheRead") + of("cacheWrite") + of("cacheWrite1h") + of("imageInput");
  const completion = of("output") + of("reasoning") + of("imageOutput");
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(tokens.cacheRead ? { prompt_tokens_details: { cached_tokens: tokens.cacheRead } } : {}),
    ...(tokens.reasoning ? { completion_tokens_details: { reasoning_tokens: tokens.reasoning } } : {}),
  };
}

/** A rough count for text nobody counted: four bytes a token, at least one for any text. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}
