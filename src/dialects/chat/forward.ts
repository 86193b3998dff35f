import { isCorrected, type UsagePolicy } from "../../domain/usage.ts";
import { editMembers, removeMember } from "../../lib/json-edit.ts";
import { hasMembers, isObject, scanArray, scanObject, type JsonSpan, splice } from "../../lib/json.ts";
import type { VendorReply, VendorTerms, VendorTraits, WholeReply } from "../dialect.ts";
import { tellsCost, withoutCost } from "../usage-reading.ts";
import { observe, type SizedText, WholeText } from "../stream-meter.ts";
import { vendorFields, withoutFields } from "../sse/vendor-frames.ts";
import { addContent } from "./content.ts";
import { parseCompletion, refuseFailure } from "./event.ts";
import type { ChatPayload } from "./request.ts";
import { editsOfReply } from "./required-fields.ts";
import { correctedUsage, readUsage, showsBilled } from "./usage.ts";

/**
 * Returns the text of a request for a vendor of the same dialect. Sets the vendor's model name, and requests usage for
 * a stream. Sets a maximum of output tokens if the budget requires a maximum and the caller set none. Renames or
 * removes the fields that the vendor's traits refuse. A refused role `developer` becomes `system`. Other fields stay
 * unchanged.
 */
export function forVendor(
  payload: ChatPayload,
  { upstreamModel, coveredTokens, traits }: VendorTerms,
): string {
  const takesUsageOption = !traits.refuses?.includes("stream_options");
  const text = withModelAndUsage(payload, upstreamModel, takesUsageOption);
  const adapted = adapt(text, payload.parsed.body, traits);
  return coveredTokens === null
    ? adapted
    : editMembers(adapted, { [traits.maxTokensField ?? "max_tokens"]: () => String(coveredTokens) });
}

function withModelAndUsage(
  { raw, parsed }: ChatPayload,
  upstreamModel: string,
  takesUsageOption: boolean,
): string {
  const { model, spans, isStream, body } = parsed;
  const edits: { span: JsonSpan; text: string }[] = [];
  if (upstreamModel !== model && spans.model)
    edits.push({ span: spans.model, text: JSON.stringify(upstreamModel) });
  if (isStream && takesUsageOption) {
    const requested = body["stream_options"];
    const options = JSON.stringify({ ...(isObject(requested) ? requested : {}), include_usage: true });
    if (spans.streamOptions) edits.push({ span: spans.streamOptions, text: options });
    else {
      const start = { start: spans.bodyStart, end: spans.bodyStart };
      edits.push({ span: start, text: `"stream_options":${options},` });
    }
  }
  if (edits.length > 1) edits.sort((one, other) => one.span.start - other.span.start);
  return edits.length === 0 ? raw : splice(raw, edits);
}

/**
 * Renames refused fields and roles. Removes a refused field that has no equivalent, or whose equivalent the caller has
 * set.
 */
function adapt(
  text: string,
  body: Readonly<Record<string, unknown>>,
  { refuses, seedField }: VendorTraits,
): string {
  if (!refuses) return text;
  let adapted = seedField && "seed" in body ? renameMember(text, "seed", seedField) : text;
  if (refuses.includes("stream_options") && "stream_options" in body)
    adapted = removeMember(adapted, "stream_options");
  if (refuses.includes("max_completion_tokens") && "max_completion_tokens" in body)
    adapted =
      "max_tokens" in body
        ? removeMember(adapted, "max_completion_tokens")
        : renameMember(adapted, "max_completion_tokens", "max_tokens");
  if (refuses.includes("developer") && hasDeveloper(body["messages"]))
    adapted = editMembers(adapted, { messages: (messages) => messages && withSystemRoles(messages) });
  return adapted;
}

function renameMember(text: string, from: string, to: string): string {
  const { members, spans } = scanObject(text, [from]);
  const [member, value] = [members[0], spans[0]];
  if (!member || !value) return text;
  const renamed = `${JSON.stringify(to)}:${text.slice(value.start, value.end)}`;
  return splice(text, [{ span: member, text: renamed }]);
}

function hasDeveloper(messages: unknown): boolean {
  return Array.isArray(messages) && messages.some((each) => isObject(each) && each["role"] === "developer");
}

function withSystemRoles(messages: string): string {
  const edits = scanArray(messages).map((span) => {
    const message = messages.slice(span.start, span.end);
    return { span, text: editMembers(message, { role: asSystem }) };
  });
  return splice(messages, edits);
}

function asSystem(role: string | undefined): string | undefined {
  return role !== undefined && JSON.parse(role) === "developer" ? '"system"' : undefined;
}

/**
 * Reads a whole reply. Keeps the vendor's text, but changes the model name, adds required fields, and removes fields
 * that identify the vendor or contain the operator's cost. Changes `usage` if other numbers are billed. Throws an
 * `UpstreamError` for a text that is not a chat completion with choices, and for a failure of the vendor.
 */
export function readReply(reply: VendorReply, publicModel: string, policy: UsagePolicy): WholeReply {
  const body = parseCompletion(reply);
  for (const choice of body.choices) if (isObject(choice)) refuseFailure(choice["finish_reason"]);
  const delivered = new WholeText((sized) => addChoices(sized, body.choices));
  const usage = policy(observe(readUsage(body["usage"]), delivered, true));
  const clean = withoutFields(reply.text, vendorFields(body));
  const hasPublicName = body["model"] === publicModel;
  const hasCost = tellsCost(body["usage"]);
  const edits = editsOfReply(body);
  if (!hasPublicName) edits["model"] = () => JSON.stringify(publicModel);
  if (isCorrected(usage) || !showsBilled(body["usage"], usage))
    edits["usage"] = (old) => correctedUsage(old, usage);
  else if (hasCost) edits["usage"] = (old) => old && withoutCost(old);
  return { text: hasMembers(edits) ? editMembers(clean, edits) : clean, usage };
}

function addChoices(sized: SizedText, choices: readonly unknown[]): void {
  for (const choice of choices) {
    const message = isObject(choice) ? (choice["message"] ?? choice["delta"]) : undefined;
    if (isObject(message)) addContent(sized, message);
  }
}
