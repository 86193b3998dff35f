import {
  INPUT_CATEGORIES,
  OUTPUT_CATEGORIES,
  sumTokens,
  type TokenCounts,
  type TokenUsage,
  type UsageReport,
} from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { CountReader, reportedCost } from "../usage-reading.ts";

/** The `usage` object of responses. All fields are required (OpenAI responses reference). */
interface ResponsesUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

/**
 * Reads a vendor's usage into disjoint categories; null when there is no usage. `input_tokens` includes tokens that are
 * read from or written to a cache. `output_tokens` includes reasoning.
 */
export function readUsage(value: unknown): UsageReport | null {
  if (!isObject(value)) return null;
  const counts = new CountReader();
  const input = counts.read(value["input_tokens"]);
  const output = counts.read(value["output_tokens"]);
  const inputDetails = objectOf(value["input_tokens_details"]);
  const outputDetails = objectOf(value["output_tokens_details"]);
  const cacheRead = counts.readPart(inputDetails["cached_tokens"], input ?? 0);
  const cacheWrite = counts.readPart(inputDetails["cache_write_tokens"], (input ?? 0) - cacheRead);
  const reasoning = counts.readPart(outputDetails["reasoning_tokens"], output ?? 0);
  if (input !== null && output !== null) counts.checkTotal(value["total_tokens"], input + output);
  const tokens: TokenCounts = {
    input: (input ?? 0) - cacheRead - cacheWrite,
    output: (output ?? 0) - reasoning,
    ...(cacheRead && { cacheRead }),
    ...(cacheWrite && { cacheWrite }),
    ...(reasoning && { reasoning }),
  };
  return counts.report(tokens, { input, output }, reportedCost(value));
}

/** Writes the usage for the responses protocol. The total is always the sum of input and output. */
export function writeUsage({ tokens }: TokenUsage): ResponsesUsage {
  const input = sumTokens(tokens, INPUT_CATEGORIES);
  const output = sumTokens(tokens, OUTPUT_CATEGORIES);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: tokens.cacheRead ?? 0,
      cache_write_tokens: (tokens.cacheWrite ?? 0) + (tokens.cacheWrite1h ?? 0),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: tokens.reasoning ?? 0 },
    total_tokens: input + output,
  };
}

/**
 * Returns the text of a vendor's `usage` with the billed numbers; its other top-level fields stay unchanged. Without
 * such an object, returns the billed usage alone.
 */
export function correctedUsage(text: string | undefined, usage: TokenUsage): string {
  const billed = writeUsage(usage);
  if (text === undefined || !isObject(JSON.parse(text))) return JSON.stringify(billed);
  const edits = Object.entries(billed).map(([name, value]) => [name, () => JSON.stringify(value)] as const);
  return editMembers(text, Object.fromEntries(edits));
}

function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
