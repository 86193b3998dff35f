import { isObject, scanArray, scanObject, splice, type Span } from "../../lib/json.ts";
import { isForeign, mayHoldForeign } from "./carried-signature.ts";

/** Vendors refuse a message without any block. */
const NOTHING_SAID = '{"type":"text","text":"(Nothing was said.)"}';

/**
 * The text of a request without thinking that vendors of other protocols gave in the same conversation; every other
 * block stays character for character.
 */
export function withoutForeignThinking(raw: string, body: Readonly<Record<string, unknown>>): string {
  const { messages } = body;
  if (!mayHoldForeign(raw) || !Array.isArray(messages)) return raw;
  const list = scanObject(raw, ["messages"]).spans[0];
  if (!list) return raw;
  const edits: { span: Span; text: string }[] = [];
  for (const [index, item] of scanArray(textOf(raw, list)).entries()) {
    const message: unknown = messages[index];
    const content: unknown = isObject(message) ? message["content"] : undefined;
    if (!Array.isArray(content) || !content.some((block) => isObject(block) && isForeign(block))) continue;
    const span = shifted(item, list.start);
    const blocks = scanObject(textOf(raw, span), ["content"]).spans[0];
    if (!blocks) continue;
    const within = shifted(blocks, span.start);
    const kept = scanArray(textOf(raw, within))
      .filter((_, at) => !isForeign(content[at]))
      .map((block) => textOf(raw, shifted(block, within.start)));
    edits.push({ span: within, text: `[${kept.join(",") || NOTHING_SAID}]` });
  }
  return splice(raw, edits);
}

function textOf(raw: string, { start, end }: Span): string {
  return raw.slice(start, end);
}

function shifted({ start, end }: Span, by: number): Span {
  return { start: start + by, end: end + by };
}
