import {
  INPUT_CATEGORIES,
  OUTPUT_CATEGORIES,
  sumTokens,
  type TokenCounts,
  type TokenUsage,
  type UsageReport,
} from "../../domain/usage.ts";
import { editMembers, type MemberEdit } from "../../lib/json-edit.ts";
import { isObject } from "../../lib/json.ts";
import { CountReader, reportedCost, withoutCost } from "../usage-reading.ts";

/** The `usage` object of chat completions, as callers receive it. */
interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number; cache_write_tokens?: number; image_tokens?: number };
  completion_tokens_details?: { reasoning_tokens?: number; image_tokens?: number };
}

/** Names that vendors use for tokens that were written to a cache. */
const CACHE_WRITE_NAMES = ["cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens"];

/**
 * Reads a vendor's usage into disjoint categories; null when there is no usage. `prompt_tokens` includes cached tokens.
 * `completion_tokens` includes reasoning, except when the total shows that reasoning is counted separately (xAI).
 * Tokens that only the total contains are also reasoning (Google's compatible endpoint).
 */
export function readUsage(value: unknown): UsageReport | null {
  if (!isObject(value)) return null;
  const counts = new CountReader();
  const prompt = counts.read(value["prompt_tokens"]);
  const completion = counts.read(value["completion_tokens"]);
  const total = counts.read(value["total_tokens"]);
  const inputDetails = objectOf(value["prompt_tokens_details"]);
  const outputDetails = objectOf(value["completion_tokens_details"]);
  let input = prompt ?? 0;
  let output = completion ?? 0;
  const cached = inputDetails["cached_tokens"] ?? value["prompt_cache_hit_tokens"] ?? value["cached_tokens"];
  const cacheRead = counts.readPart(cached, input);
  input -= cacheRead;
  const cacheWrite = counts.readPart(cacheWritesOf(inputDetails), input);
  input -= cacheWrite;
  const imageInput = counts.readPart(inputDetails["image_tokens"], input);
  input -= imageInput;
  const beyond = prompt && completion !== null && total !== null ? total - prompt - completion : 0;
  let reasoning = counts.read(outputDetails["reasoning_tokens"] ?? value["reasoning_tokens"]) ?? 0;
  if (beyond > 0 && (reasoning === 0 || reasoning === beyond)) reasoning = beyond;
  else {
    output -= reasoning = counts.readPart(reasoning, output);
    if (beyond !== 0) counts.isAnomalous = true;
  }
  const imageOutput = counts.readPart(outputDetails["image_tokens"], output);
  const tokens: TokenCounts = { input, output: output - imageOutput };
  if (cacheRead) tokens.cacheRead = cacheRead;
  if (cacheWrite) tokens.cacheWrite = cacheWrite;
  if (imageInput) tokens.imageInput = imageInput;
  if (imageOutput) tokens.imageOutput = imageOutput;
  if (reasoning) tokens.reasoning = reasoning;
  return counts.report(tokens, { input: prompt, output: completion }, reportedCost(value));
}

function cacheWritesOf(details: Readonly<Record<string, unknown>>): unknown {
  for (const name of CACHE_WRITE_NAMES) if (details[name] !== undefined) return details[name];
  return undefined;
}

/**
 * Returns true when this usage shows the billed numbers to a caller. Returns false when `completion_tokens` omits
 * reasoning, because clients expect reasoning there.
 */
export function showsBilled(value: unknown, { tokens }: TokenUsage): boolean {
  if (!isObject(value)) return false;
  return (
    value["prompt_tokens"] === sumTokens(tokens, INPUT_CATEGORIES) &&
    value["completion_tokens"] === sumTokens(tokens, OUTPUT_CATEGORIES)
  );
}

/** Writes the usage for chat completions. The total is always the sum of prompt and completion. */
export function writeUsage({ tokens }: TokenUsage): ChatUsage {
  const { cacheRead, cacheWrite = 0, cacheWrite1h = 0, imageInput, reasoning, imageOutput } = tokens;
  const prompt = sumTokens(tokens, INPUT_CATEGORIES);
  const completion = sumTokens(tokens, OUTPUT_CATEGORIES);
  const written = cacheWrite + cacheWrite1h;
  const inputDetails = {
    ...(cacheRead ? { cached_tokens: cacheRead } : {}),
    ...(written ? { cache_write_tokens: written } : {}),
    ...(imageInput ? { image_tokens: imageInput } : {}),
  };
  const outputDetails = {
    ...(reasoning ? { reasoning_tokens: reasoning } : {}),
    ...(imageOutput ? { image_tokens: imageOutput } : {}),
  };
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(Object.keys(inputDetails).length > 0 ? { prompt_tokens_details: inputDetails } : {}),
    ...(Object.keys(outputDetails).length > 0 ? { completion_tokens_details: outputDetails } : {}),
  };
}

function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/**
 * Returns the text of a vendor's `usage` with the billed numbers and without the operator's costs. Other fields stay
 * unchanged. A value that is not an object is replaced.
 */
export function correctedUsage(text: string | undefined, usage: TokenUsage): string {
  const billed = writeUsage(usage);
  if (text === undefined || !isObject(JSON.parse(text))) return JSON.stringify(billed);
  const { prompt_tokens_details: input = {}, completion_tokens_details: output = {} } = billed;
  const cached = input.cached_tokens ?? 0;
  return editMembers(withoutCost(text), {
    prompt_tokens: always(billed.prompt_tokens),
    completion_tokens: always(billed.completion_tokens),
    total_tokens: always(billed.total_tokens),
    prompt_tokens_details: details(input, ["cached_tokens", "image_tokens", ...CACHE_WRITE_NAMES]),
    completion_tokens_details: details(output, ["reasoning_tokens", "image_tokens"]),
    cached_tokens: ifPresent(cached),
    prompt_cache_hit_tokens: ifPresent(cached),
    prompt_cache_miss_tokens: ifPresent(billed.prompt_tokens - cached),
    reasoning_tokens: ifPresent(output.reasoning_tokens ?? 0),
  });
}

function always(count: number): MemberEdit {
  return () => String(count);
}

function ifPresent(count: number): MemberEdit {
  return (old) => (old === undefined ? undefined : String(count));
}

/** Returns the edit that sets these fields to the billed counts. Fields of tokens that are not billed become 0. */
function details(billed: Readonly<Record<string, number>>, names: readonly string[]): MemberEdit {
  return (old) => {
    const hasBilled = Object.keys(billed).length > 0;
    if (old === undefined || !isObject(JSON.parse(old)))
      return hasBilled ? JSON.stringify(billed) : undefined;
    const edits: Record<string, MemberEdit> = {};
    for (const name of names) {
      const count = billed[name];
      edits[name] = count === undefined ? ifPresent(0) : always(count);
    }
    return editMembers(old, edits);
  };
}
