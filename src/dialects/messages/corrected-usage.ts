import type { TokenUsage } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { editMembers, type MemberEdit } from "../../lib/json-edit.ts";
import { USE_COUNTS, writeUsage } from "./usage.ts";

/**
 * A vendor's `usage` value, as text, with the billed numbers in place of its own. What else it reports stays; one
 * that is not an object is replaced.
 */
export function correctedUsage(text: string | undefined, usage: TokenUsage): string {
  const billed = writeUsage(usage);
  if (text === undefined || !isObject(JSON.parse(text))) return JSON.stringify(billed);
  return editMembers(text, {
    input_tokens: always(billed.input_tokens),
    output_tokens: always(billed.output_tokens),
    cache_creation_input_tokens: ifPresent(billed.cache_creation_input_tokens),
    cache_read_input_tokens: ifPresent(billed.cache_read_input_tokens),
    cache_creation: ifPresent(billed.cache_creation),
    output_tokens_details: ifPresent(billed.output_tokens_details),
    iterations: ifPresent(null),
    server_tool_use: (old) => correctedUses(old, usage),
  });
}

/** The uses that are billed, where the vendor reports some. */
function correctedUses(old: string | undefined, { uses = {} }: TokenUsage): string | undefined {
  if (old === undefined || !isObject(JSON.parse(old))) return old;
  const edits = USE_COUNTS.map(([feature, name]) => [name, ifPresent(uses[feature] ?? 0)] as const);
  return editMembers(old, Object.fromEntries(edits));
}

function always(count: number): MemberEdit {
  return () => String(count);
}

function ifPresent(value: unknown): MemberEdit {
  return (old) => (old === undefined ? undefined : JSON.stringify(value));
}
