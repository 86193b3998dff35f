import { UpstreamError } from "../../domain/upstream-error.ts";
import { isCorrected, type TokenUsage, type UsagePolicy } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { vendorFields, withoutFields } from "../sse/vendor-words.ts";
import type { VendorReply, WholeReply } from "../dialect.ts";
import { observe, WholeText } from "../sized-text.ts";
import { addItem } from "./content.ts";
import { correctedUsage, readUsage } from "./usage.ts";
import { reportedFailure } from "./vendor-failure.ts";
import { parseVendorObject } from "../sse/vendor-frames.ts";

/** A response object of a vendor that is complete, or was cut by a limit. */
export interface VendorResponse extends Record<string, unknown> {
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

/** Whether each item has what clients read without a check: its type, and a message its list of parts. */
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
