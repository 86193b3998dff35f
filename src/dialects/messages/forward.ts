import { UpstreamError } from "../../domain/upstream-error.ts";
import { isCorrected, type UsagePolicy } from "../../domain/usage.ts";
import { editMembers, removeMember } from "../../lib/json-edit.ts";
import { isObject, scanArray, scanObject, type JsonSpan, splice } from "../../lib/json.ts";
import type { VendorReply, VendorTerms, VendorTraits, WholeReply } from "../dialect.ts";
import { observe, WholeText } from "../stream-meter.ts";
import { parseVendorObject, vendorFields, withoutFields } from "../sse/vendor-frames.ts";
import { isForeign, mayHoldForeign } from "./thinking.ts";
import { addBlock, isNamedCall } from "./content.ts";
import { correctedUsage, readUsage, showsBilled } from "./usage.ts";
import type { MessagesPayload } from "./request.ts";
import { reportedFailure } from "./error.ts";

/**
 * Returns the text of a request for a vendor of the same dialect: the caller's text with the vendor's model name.
 * Removes thinking that came from vendors of other dialects, and a thinking budget that cannot apply without this
 * thinking.
 */
export function forVendor({ raw, parsed }: MessagesPayload, { upstreamModel, traits }: VendorTerms): string {
  const own = afterForeignAnswers(raw, parsed.body, traits);
  if (upstreamModel === parsed.model) return own;
  const name = JSON.stringify(upstreamModel);
  const span = parsed.spans.model;
  return span && own === raw ? splice(raw, [{ span, text: name }]) : editMembers(own, { model: () => name });
}

interface VendorMessage extends Record<string, unknown> {
  content: Record<string, unknown>[];
}

/**
 * Reads a whole reply. Keeps the vendor's text, but changes the model name and removes fields that identify the vendor.
 * Changes `usage` if other numbers are billed. Throws an `UpstreamError` when the text is not a message.
 */
export function readReply(reply: VendorReply, publicModel: string, policy: UsagePolicy): WholeReply {
  const body = parseMessage(reply);
  const delivered = new WholeText((sized) => {
    for (const block of body.content) addBlock(sized, block);
  });
  const usage = policy(observe(readUsage(body["usage"]), delivered, true));
  const isShown = !isCorrected(usage) && showsBilled(body["usage"], usage);
  const clean = withoutFields(reply.text, vendorFields(body));
  if (body["model"] === publicModel && isShown) return { text: clean, usage };
  const edited = editMembers(clean, {
    model: (old) => (old === undefined ? undefined : JSON.stringify(publicModel)),
    ...(!isShown && { usage: (old) => correctedUsage(old, usage) }),
  });
  return { text: edited, usage };
}

/** Parses a vendor's message. Throws an `UpstreamError` for an error and for text that is not a message. */
export function parseMessage({ text, parsed }: VendorReply): VendorMessage {
  const body = parsed ?? parseVendorObject(text, "the response");
  if (isObject(body) && body["type"] === "error") throw reportedFailure(body["error"]);
  if (!isMessage(body)) throw new UpstreamError("broken", "the response has no content");
  return body;
}

function isMessage(body: unknown): body is VendorMessage {
  return isObject(body) && Array.isArray(body["content"]) && body["content"].every(isBlock);
}

/** True for a block with all fields that clients read without checking. Blocks of unknown types only need a type. */
function isBlock(block: unknown): boolean {
  if (!isObject(block)) return false;
  const { type, text } = block;
  if (type === "text") return typeof text === "string";
  if (type === "tool_use") return isNamedCall(block);
  return typeof type === "string";
}

/** The block of a message whose blocks were all removed. Vendors refuse an empty message. */
const NOTHING_SAID = '{"type":"text","text":"(Nothing was said.)"}';

/**
 * Matches ids that vendors of this protocol give to tool calls, including calls of the vendors' own tools (Anthropic
 * API, "Tool use").
 */
const OWN_CALL = /^(?:srv)?toolu_/;

/**
 * Returns the request's text without the thinking that came from vendors of other protocols. Also removes the field
 * `thinking` if the vendor would refuse the field after turns of such vendors.
 */
function afterForeignAnswers(
  raw: string,
  body: Readonly<Record<string, unknown>>,
  { demandsThinking }: VendorTraits,
): string {
  const own = withoutForeignThinking(raw, body);
  return demandsThinking && isCallWithoutThinking(body) ? removeMember(own, "thinking") : own;
}

/**
 * True when the request enables thinking with a budget, but the answered tool call is from a vendor of another protocol
 * and has no thinking block. Anthropic refuses such a request (Anthropic API, "Extended thinking with tool use").
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

/** Removes thinking that vendors of other protocols wrote. */
function withoutForeignThinking(raw: string, body: Readonly<Record<string, unknown>>): string {
  const { messages } = body;
  if (!mayHoldForeign(raw) || !Array.isArray(messages)) return raw;
  const list = scanObject(raw, ["messages"]).spans[0];
  if (!list) return raw;
  const edits: { span: JsonSpan; text: string }[] = [];
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

function textOf(raw: string, { start, end }: JsonSpan): string {
  return raw.slice(start, end);
}

function shifted({ start, end }: JsonSpan, by: number): JsonSpan {
  return { start: start + by, end: end + by };
}
