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
    // A client keeps what the beginning of a stream has told, unless the end tells it too.
    cache_creation_input_tokens: always(billed.cache_creation_input_tokens),
    cache_read_input_tokens: always(billed.cache_read_input_tokens),
    cache_creation: ifPresent(billed.cache_creation),
    output_tokens_details: ifPresent(billed.output_tokens_details),
    iterations: ifPresent(null),
    server_tool_use: (old) => correctedUses(old, billed.server_tool_use),
  });
}

/** The uses that are billed, where there are some or the vendor reports some. */
function correctedUses(old: string | undefined, billed: Record<string, number> | null): string | undefined {
  if (old === undefined || !isObject(JSON.parse(old))) return billed ? JSON.stringify(billed) : old;
  const edits = USE_COUNTS.map(([, name]) => [name, ifPresentOr(billed?.[name] ?? 0)] as const);
  return editMembers(old, Object.fromEntries(edits));
}

function always(count: number): MemberEdit {
  return () => String(count);
}

/** Zero is told only where the vendor tells a number. */
function ifPresentOr(count: number): MemberEdit {
  return (old) => (old === undefined && count === 0 ? undefined : String(count));
}

function ifPresent(value: unknown): MemberEdit {
  return (old) => (old === undefined ? undefined : JSON.stringify(value));
}
