import { isCorrected, type UsagePolicy } from "../../domain/usage.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { vendorFields, withoutFields } from "../sse/vendor-words.ts";
import type { VendorReply, WholeReply } from "../dialect.ts";
import { observe, WholeText } from "../sized-text.ts";
import { addBlock, isNamedCall } from "./content.ts";
import { correctedUsage } from "./corrected-usage.ts";
import { readUsage, showsBilled } from "./usage.ts";
import { reportedFailure } from "./vendor-failure.ts";
import { parseVendorObject } from "../sse/vendor-frames.ts";

/** A whole message of a vendor, parsed. */
interface VendorMessage extends Record<string, unknown> {
  content: Record<string, unknown>[];
}

/**
 * Reads a response that is not a stream. Its text stays as the vendor wrote it but for the model name, fields that
 * name the vendor, and `usage` where other numbers are billed. Throws an `UpstreamError` when it is no message.
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

/** Parses a vendor's message. Throws an `UpstreamError` for an error and for anything else. */
export function parseMessage({ text, parsed }: VendorReply): VendorMessage {
  const body = parsed ?? parseVendorObject(text, "the response");
  if (isObject(body) && body["type"] === "error") throw reportedFailure(body["error"]);
  if (!isMessage(body)) throw new UpstreamError("broken", "the response has no content");
  return body;
}

function isMessage(body: unknown): body is VendorMessage {
  return isObject(body) && Array.isArray(body["content"]) && body["content"].every(isBlock);
}

/** Whether it has what clients read without a check; of kinds that are not known here, nothing but the kind. */
function isBlock(block: unknown): boolean {
  if (!isObject(block)) return false;
  const { type, text } = block;
  if (type === "text") return typeof text === "string";
  if (type === "tool_use") return isNamedCall(block);
  return typeof type === "string";
}
