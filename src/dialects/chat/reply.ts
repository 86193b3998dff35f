import { isCorrected, type UsagePolicy } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import type { VendorReply, WholeReply } from "../dialect.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { observe, WholeText, type SizedText } from "../sized-text.ts";
import { addContent } from "./content.ts";
import { correctedUsage } from "./corrected-usage.ts";
import { tellsCost, withoutCost } from "../reported-cost.ts";
import { parseCompletion } from "./event.ts";
import { editsOfReply } from "./required-fields.ts";
import { refuseFailure } from "./finish-reason.ts";
import { readUsage, showsBilled } from "./usage.ts";
import { vendorFields, withoutFields } from "../sse/vendor-words.ts";

/**
 * Reads a response that is not a stream. Its text stays as the vendor wrote it but for the model name, fields that
 * name the vendor, required ones that are missing, and `usage` where other numbers are billed. Throws an `UpstreamError` when it is not a chat
 * completion or has no choice.
 */
export function readReply(reply: VendorReply, publicModel: string, policy: UsagePolicy): WholeReply {
  const body = parseCompletion(reply);
  for (const choice of body.choices) if (isObject(choice)) refuseFailure(choice["finish_reason"]);
  const delivered = new WholeText((sized) => addChoices(sized, body.choices));
  const usage = policy(observe(readUsage(body["usage"]), delivered, true));
  const clean = withoutFields(reply.text, vendorFields(body));
  const hasPublicName = body["model"] === publicModel;
  const hasCost = tellsCost(body["usage"]);
  const required = editsOfReply(body);
  const isShown = !isCorrected(usage) && showsBilled(body["usage"], usage);
  const isRight = hasPublicName && Object.keys(required).length === 0;
  if (isRight && isShown && !hasCost) return { text: clean, usage };
  const edited = editMembers(clean, {
    ...required,
    model: () => JSON.stringify(publicModel),
    ...(!isShown && { usage: (old) => correctedUsage(old, usage) }),
    ...(isShown && hasCost && { usage: (old) => old && withoutCost(old) }),
  });
  return { text: edited, usage };
}

function addChoices(sized: SizedText, choices: readonly unknown[]): void {
  for (const choice of choices) {
    const message = isObject(choice) ? (choice["message"] ?? choice["delta"]) : undefined;
    if (isObject(message)) addContent(sized, message);
  }
}
