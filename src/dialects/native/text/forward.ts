import { UpstreamError } from "../../../domain/upstream-error.ts";
import { isCorrected, type UsagePolicy } from "../../../domain/usage.ts";
import { editItems, editMembers, type MemberEdit, removeMember } from "../../../lib/json-edit.ts";
import { isObject } from "../../../lib/json.ts";
import type { VendorReply, VendorTerms, WholeReply } from "../../dialect.ts";
import { observe, WholeText } from "../../stream-meter.ts";
import { addCandidate, blockReasonOf, candidatesOf, parseEvent, requireEvent } from "./event.ts";
import type { NativePayload } from "./request.ts";
import { correctedUsage, readUsage, showsBilled } from "./usage.ts";

/**
 * Returns the text of a request for a vendor of the same protocol. This is the caller's text without the model, which
 * is in the address. Adds a maximum of output tokens if the budget requires a maximum and the caller set none. Adds a
 * role to each turn if the vendor requires roles.
 */
export function forVendor(
  { raw, parsed: { body } }: NativePayload,
  { coveredTokens, traits }: VendorTerms,
): string {
  const text = "model" in body ? removeMember(raw, "model") : raw;
  const edits: Record<string, MemberEdit> = {};
  if (coveredTokens !== null) {
    const name = "generation_config" in body ? "generation_config" : "generationConfig";
    edits[name] = (config) => withMaximum(config, coveredTokens);
  }
  if (traits.demandsRoles) edits["contents"] = withRoles;
  return Object.keys(edits).length === 0 ? text : editMembers(text, edits);
}

function withMaximum(config: string | undefined, maxTokens: number): string {
  const set = () => String(maxTokens);
  if (config === undefined || config === "null") return editMembers("{}", { maxOutputTokens: set });
  const hasSnakeCase = Object.hasOwn(JSON.parse(config), "max_output_tokens");
  return editMembers(config, { [hasSnakeCase ? "max_output_tokens" : "maxOutputTokens"]: set });
}

/** Adds the role `user` to each turn without a role. */
function withRoles(contents: string | undefined): string | undefined {
  if (contents === undefined) return undefined;
  return contents.startsWith("[") ? editItems(contents, withRole) : withRole(contents);
}

function withRole(turn: string): string {
  const parsed: unknown = JSON.parse(turn);
  const hasRole = isObject(parsed) && typeof parsed["role"] === "string";
  return hasRole ? turn : editMembers(turn, { role: () => '"user"' });
}

/**
 * Reads a whole reply. Keeps the vendor's text, but changes `modelVersion`. Changes `usageMetadata` if other numbers
 * are billed. Throws an `UpstreamError` if the reply has neither candidates nor a reason for blocking the prompt.
 */
export function readReply(
  { text, parsed }: VendorReply,
  publicModel: string,
  policy: UsagePolicy,
): WholeReply {
  const body = parsed === undefined ? parseEvent(text) : requireEvent(parsed);
  const candidates = candidatesOf(body);
  if (candidates.length === 0 && blockReasonOf(body) === null) {
    throw new UpstreamError("broken", "the response has no candidates");
  }
  const delivered = new WholeText((sized) =>
    candidates.forEach((candidate) => addCandidate(sized, candidate)),
  );
  const usage = policy(observe(readUsage(body["usageMetadata"]), delivered, true));
  const isShown = !isCorrected(usage) && showsBilled(body["usageMetadata"], usage);
  const edited = editMembers(text, {
    ...publicName(body, publicModel),
    ...(!isShown && { usageMetadata: (old) => correctedUsage(old, usage) }),
  });
  return { text: edited, usage };
}

/** Returns the edit that writes the model's public name; empty if there is no other name to replace. */
export function publicName(
  { modelVersion }: Record<string, unknown>,
  publicModel: string,
): { modelVersion?: () => string } {
  const isSame = modelVersion === undefined || modelVersion === publicModel;
  return isSame ? {} : { modelVersion: () => JSON.stringify(publicModel) };
}
