import { isObject } from "../../../lib/json.ts";
import { editItems, editMembers, removeMember, type MemberEdit } from "../../../lib/json-edit.ts";
import type { VendorTerms } from "../../dialect.ts";
import type { NativePayload } from "./request.ts";

/**
 * The text for a vendor of the same protocol: as the caller wrote it, without a model name, which is in the address;
 * with a maximum of output tokens for a caller who set none and whose budget needs one, and with a role for each turn
 * where the vendor demands one.
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

/** A turn without a role is the caller's. */
function withRoles(contents: string | undefined): string | undefined {
  if (contents === undefined) return undefined;
  return contents.startsWith("[") ? editItems(contents, withRole) : withRole(contents);
}

function withRole(turn: string): string {
  const parsed: unknown = JSON.parse(turn);
  const hasRole = isObject(parsed) && typeof parsed["role"] === "string";
  return hasRole ? turn : editMembers(turn, { role: () => '"user"' });
}
