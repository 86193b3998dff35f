import { isObject, scanArray } from "../../lib/json.ts";
import { editMembers } from "../../lib/json-edit.ts";
import { openSignature } from "../conversation/signature.ts";

/** How the ids of reasoning begin that the gateway has written, mostly for a vendor of another protocol. */
export const FOREIGN_REASONING_PREFIX = "rs_gw";

/**
 * The text of a request without reasoning that came from a vendor of another protocol: this one's vendors can neither
 * decrypt it nor find it by its id. Every other character stays.
 */
export function withoutForeignReasoning(raw: string): string {
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
        // A member's name may be escaped, so only parsing tells; most items are told apart without it.
        if (!text.includes("reasoning") && !text.includes("\\u")) return true;
        const item: unknown = JSON.parse(text);
        return !(isObject(item) && item["type"] === "reasoning" && isUnwanted(item));
      });
      return kept.length === items.length ? undefined : `[${kept.join(",")}]`;
    },
  });
}
