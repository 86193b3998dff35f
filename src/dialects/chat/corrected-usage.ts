import type { TokenUsage } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { editMembers, type MemberEdit } from "../../lib/json-edit.ts";
import { withoutCost } from "../reported-cost.ts";
import { CACHE_WRITE_NAMES, writeUsage } from "./usage.ts";

/**
 * A vendor's `usage` value, as text, with the billed numbers in place of its own and without what the operator pays.
 * What else it reports stays; one that is not an object is replaced.
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

/** Sets the given names: to what was billed, and those that the vendor reported and nobody pays to 0. */
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
