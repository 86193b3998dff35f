import { isObject, scanArray, scanObject } from "../../lib/json.ts";

/**
 * The inputs of calls as text, character for character. Of a message's JSON text and its blocks, parsed; finds the
 * text of each block's `input` by the block.
 */
export function rawInputs(message: string, content: unknown): ReadonlyMap<unknown, string> {
  const inputs = new Map<unknown, string>();
  if (!Array.isArray(content) || !content.some(isCall)) return inputs;
  const items = memberText(message, "content") ?? "[]";
  for (const [index, { start, end }] of scanArray(items).entries()) {
    const block: unknown = content[index];
    if (!isCall(block)) continue;
    inputs.set(block, memberText(items.slice(start, end), "input") ?? "{}");
  }
  return inputs;
}

/** The text of one member of an object's JSON text. */
export function memberText(text: string, name: string): string | undefined {
  const [span] = scanObject(text, [name]).spans;
  return span && text.slice(span.start, span.end);
}

function isCall(block: unknown): boolean {
  return isObject(block) && block["type"] === "tool_use";
}
