import { isObject, scanArray, scanObject, splice, type Span } from "../../lib/json.ts";
import { removeMember } from "../../lib/json-edit.ts";
import type { VendorTraits } from "../dialect.ts";
import { isForeign, mayHoldForeign } from "./carried-signature.ts";

/** Vendors refuse a message without any block. */
const NOTHING_SAID = '{"type":"text","text":"(Nothing was said.)"}';

/** Ids of calls by vendors of this protocol, of the caller's tools and of their own (Anthropic API, "Tool use"). */
const OWN_CALL = /^(?:srv)?toolu_/;

/**
 * The text of a request without what a vendor of this protocol would refuse after one of another protocol has answered
 * in the same conversation; everything else stays character for character.
 */
export function afterForeignAnswers(
  raw: string,
  body: Readonly<Record<string, unknown>>,
  { demandsThinking }: VendorTraits,
): string {
  const own = withoutForeignThinking(raw, body);
  return demandsThinking && isCallWithoutThinking(body) ? removeMember(own, "thinking") : own;
}

/**
 * Whether thinking with a budget is asked for, and the call that is being answered has none because a vendor of another
 * protocol made it. Anthropic refuses such a request for ever (Anthropic API, "Extended thinking with tool use").
 */
function isCallWithoutThinking({ thinking, messages }: Readonly<Record<string, unknown>>): boolean {
  if (!isObject(thinking) || thinking["type"] !== "enabled" || !Array.isArray(messages)) return false;
  const reply: unknown = messages.findLast((message) => isObject(message) && message["role"] === "assistant");
  const content: unknown = isObject(reply) ? reply["content"] : undefined;
  if (!Array.isArray(content)) return false;
  const blocks = content.filter((block) => isObject(block));
  const first = blocks.find((block) => !isForeign(block));
  if (String(first?.["type"]).endsWith("thinking")) return false;
  const calls = blocks.filter(({ type }) => type === "tool_use");
  return calls.length > 0 && (blocks.some(isForeign) || !calls.every(({ id }) => OWN_CALL.test(String(id))));
}

/** Without thinking that vendors of other protocols gave. */
function withoutForeignThinking(raw: string, body: Readonly<Record<string, unknown>>): string {
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
