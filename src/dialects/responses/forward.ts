import { UpstreamError } from "../../domain/upstream-error.ts";
import { isCorrected, type TokenUsage, type UsagePolicy } from "../../domain/usage.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { isObject, scanArray, splice } from "../../lib/json.ts";
import { openSignature } from "../conversation/signature.ts";
import type { VendorReply, VendorTerms, WholeReply } from "../dialect.ts";
import { observe, WholeText } from "../stream-meter.ts";
import { parseVendorObject, vendorFields, withoutFields } from "../sse/vendor-frames.ts";
import { addItem } from "./content.ts";
import type { ResponsesPayload } from "./request.ts";
import { correctedUsage, readUsage } from "./usage.ts";
import { reportedFailure } from "./error.ts";

/**
 * Returns the text of a request for a vendor of the same dialect. This is the caller's text with the vendor's model
 * name. Adds a maximum of output tokens if the budget requires a maximum and the caller set none. Removes reasoning
 * with a signature of another protocol.
 */
export function forVendor({ raw, parsed }: ResponsesPayload, terms: VendorTerms): string {
  const { model, modelSpan } = parsed;
  const { upstreamModel, coveredTokens } = terms;
  const isRenamed = upstreamModel !== model && modelSpan !== undefined;
  const named = isRenamed ? splice(raw, [{ span: modelSpan, text: JSON.stringify(upstreamModel) }]) : raw;
  const text = withoutForeignReasoning(named);
  return coveredTokens === null
    ? text
    : editMembers(text, { max_output_tokens: () => String(coveredTokens) });
}

/** A vendor's response object that is complete or was cut by a limit. */
interface VendorResponse extends Record<string, unknown> {
  output: readonly unknown[];
}

/**
 * Reads a whole reply. Keeps the vendor's text, with the changes of `publicResponse`. Throws an `UpstreamError` for a
 * failed response and for text that is not a response.
 */
export function readReply(reply: VendorReply, publicModel: string, policy: UsagePolicy): WholeReply {
  const body = parseResponse(reply);
  const delivered = new WholeText((sized) => body.output.forEach((item) => addItem(sized, item)));
  const usage = policy(observe(readUsage(body["usage"]), delivered, true));
  return { text: publicResponse(reply.text, body, publicModel, usage), usage };
}

/** Parses the text of a finished response. Throws an `UpstreamError` for a failed response and for any other text. */
export function parseResponse({ text, parsed }: VendorReply): VendorResponse {
  const body = isObject(parsed) ? parsed : parseVendorObject(text, "the response");
  if (body["error"]) throw reportedFailure(body["error"]);
  if (!isEnded(body)) throw new UpstreamError("broken", "the response has no output");
  return body;
}

/** True when the response has ended. Compatible servers may omit the status. */
function isEnded(body: Record<string, unknown>): body is VendorResponse {
  const { output, status } = body;
  const isEnd = status === undefined || status === "completed" || status === "incomplete";
  return isEnd && isOutput(output);
}

/** True when all items have the fields that clients read without checking: a type, and in a message a list of parts. */
export function isOutput(output: unknown): output is readonly unknown[] {
  return Array.isArray(output) && output.every(isItem);
}

function isItem(item: unknown): boolean {
  if (!isObject(item) || typeof item["type"] !== "string") return false;
  const { type, content } = item;
  return type !== "message" || (Array.isArray(content) && content.every(isObject));
}

/**
 * Returns the text of a response object for the caller. Sets the model's public name. Sets `store` to false, because
 * the gateway stores no responses. Removes fields that identify the vendor. Writes the billed usage if it differs from
 * the vendor's usage. `usage` is null while the response is running.
 */
export function publicResponse(
  text: string,
  body: Record<string, unknown>,
  publicModel: string,
  usage: TokenUsage | null,
): string {
  const isRebilled = usage !== null && isCorrected(usage);
  const hasPublicName = body["model"] === publicModel || body["model"] === undefined;
  const clean = withoutFields(text, vendorFields(body));
  if (hasPublicName && body["store"] !== true && !isRebilled) return clean;
  return editMembers(clean, {
    model: (old) => (old === undefined ? undefined : JSON.stringify(publicModel)),
    store: (old) => (old === "true" ? "false" : undefined),
    ...(isRebilled && { usage: (old) => correctedUsage(old, usage) }),
  });
}

/** Prefix of the gateway's own ids for reasoning, most of which comes from other protocols' vendors. */
export const FOREIGN_REASONING_PREFIX = "rs_gw";

/**
 * Returns the request's text without the reasoning that came from vendors of other protocols. Vendors of this protocol
 * can neither decrypt such reasoning nor find it by its id. Other characters stay unchanged.
 */
function withoutForeignReasoning(raw: string): string {
  if (!raw.includes('"gw-') && !raw.includes(FOREIGN_REASONING_PREFIX)) return raw;
  return withoutItems(raw, isForeign);
}

/**
 * Returns the request's text without any reasoning. Encrypted reasoning can be decrypted only by the account that wrote
 * it (OpenAI reasoning guide). Without the reasoning, the model reasons again.
 */
export function withoutReasoning(raw: string): string {
  return withoutItems(raw, () => true);
}

function isForeign({ encrypted_content: encrypted, id }: Record<string, unknown>): boolean {
  if (typeof encrypted === "string" && encrypted !== "")
    return openSignature(encrypted, "responses").dialect !== "responses";
  return typeof id === "string" && id.startsWith(FOREIGN_REASONING_PREFIX);
}

/** Removes the reasoning items for which `isUnwanted` is true. */
function withoutItems(raw: string, isUnwanted: (item: Record<string, unknown>) => boolean): string {
  return editMembers(raw, {
    input: (list) => {
      if (!list?.startsWith("[")) return undefined;
      const items = scanArray(list).map(({ start, end }) => list.slice(start, end));
      const kept = items.filter((text) => {
        // An item is parsed only if it contains `reasoning` or an escape sequence, which may hide this word.
        if (!text.includes("reasoning") && !text.includes("\\u")) return true;
        const item: unknown = JSON.parse(text);
        return !(isObject(item) && item["type"] === "reasoning" && isUnwanted(item));
      });
      return kept.length === items.length ? undefined : `[${kept.join(",")}]`;
    },
  });
}
