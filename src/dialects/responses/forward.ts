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
 * The text for a vendor of the same dialect: its own model name, a maximum of output tokens for a caller who set none
 * and whose budget needs one, and no reasoning that a vendor of another protocol has signed. Everything else is as
 * the caller wrote it.
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

/** A response object of a vendor that is complete, or was cut by a limit. */
interface VendorResponse extends Record<string, unknown> {
  output: readonly unknown[];
}

/**
 * Reads a response that is not a stream. Its text stays as the vendor wrote it but for what `publicResponse` changes.
 * Throws an `UpstreamError` when it is no response, or one that failed.
 */
export function readReply(reply: VendorReply, publicModel: string, policy: UsagePolicy): WholeReply {
  const body = parseResponse(reply);
  const delivered = new WholeText((sized) => body.output.forEach((item) => addItem(sized, item)));
  const usage = policy(observe(readUsage(body["usage"]), delivered, true));
  return { text: publicResponse(reply.text, body, publicModel, usage), usage };
}

/** Parses a vendor's whole response. Throws an `UpstreamError` for a failed one and for anything else. */
export function parseResponse({ text, parsed }: VendorReply): VendorResponse {
  const body = isObject(parsed) ? parsed : parseVendorObject(text, "the response");
  if (body["error"]) throw reportedFailure(body["error"]);
  if (!isEnded(body)) throw new UpstreamError("broken", "the response has no output");
  return body;
}

/** Compatible servers may leave the status out. */
function isEnded(body: Record<string, unknown>): body is VendorResponse {
  const { output, status } = body;
  const isEnd = status === undefined || status === "completed" || status === "incomplete";
  return isEnd && isOutput(output);
}

/** Returns true when each item has what clients read unchecked: a type, and a list of parts in a message. */
export function isOutput(output: unknown): output is readonly unknown[] {
  return Array.isArray(output) && output.every(isItem);
}

function isItem(item: unknown): boolean {
  if (!isObject(item) || typeof item["type"] !== "string") return false;
  const { type, content } = item;
  return type !== "message" || (Array.isArray(content) && content.every(isObject));
}

/**
 * The text of a response object for the caller: its model's public name, `store` false since nothing is stored here,
 * no field that names the vendor, and the billed usage where that is another than the vendor's. `usage` is null
 * while the response runs.
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

/** The beginning of ids that the gateway gives to reasoning, mostly of a vendor of another protocol. */
export const FOREIGN_REASONING_PREFIX = "rs_gw";

/**
 * The text of a request without reasoning that came from a vendor of another protocol: this one's vendors can neither
 * decrypt it nor find it by its id. Every other character stays.
 */
function withoutForeignReasoning(raw: string): string {
  if (!raw.includes('"gw-') && !raw.includes(FOREIGN_REASONING_PREFIX)) return raw;
  return withoutItems(raw, isForeign);
}

/**
 * The text of a request without any reasoning. Encrypted reasoning can be decrypted only by the
 * account that made it (OpenAI reasoning guide); without it the model thinks again.
 */
export function withoutReasoning(raw: string): string {
  return withoutItems(raw, () => true);
}

function isForeign({ encrypted_content: encrypted, id }: Record<string, unknown>): boolean {
  if (typeof encrypted === "string" && encrypted !== "")
    return openSignature(encrypted, "responses").dialect !== "responses";
  return typeof id === "string" && id.startsWith(FOREIGN_REASONING_PREFIX);
}

/** Removes the reasoning items that are unwanted, each with its comma. */
function withoutItems(raw: string, isUnwanted: (item: Record<string, unknown>) => boolean): string {
  return editMembers(raw, {
    input: (list) => {
      if (!list?.startsWith("[")) return undefined;
      const items = scanArray(list).map(({ start, end }) => list.slice(start, end));
      const kept = items.filter((text) => {
        // A member's name may be escaped, so only parsing is certain; most items need none.
        if (!text.includes("reasoning") && !text.includes("\\u")) return true;
        const item: unknown = JSON.parse(text);
        return !(isObject(item) && item["type"] === "reasoning" && isUnwanted(item));
      });
      return kept.length === items.length ? undefined : `[${kept.join(",")}]`;
    },
  });
}
