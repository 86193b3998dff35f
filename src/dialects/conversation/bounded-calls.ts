import { JSON_BOUNDS } from "../../lib/bounded-json.ts";
import { exceededBound } from "../../lib/json.ts";
import type { Conversation } from "./request.ts";
import { untranslatable } from "./untranslatable.ts";

/** Levels are bounded for each call, where it is parsed. */
const BOUNDS = { ...JSON_BOUNDS, depth: Infinity };
/** Fewer than so many names have, of which each has four characters. */
const FEW_CHARACTERS = 4 * BOUNDS.names;

/**
 * Throws an `UpstreamError` for a conversation whose calls together have more values or names than may be parsed at once.
 * Arguments are JSON inside of texts, so the bounds of the request do not see them.
 */
export function requireBoundedCalls({ turns, params }: Conversation): void {
  const texts: string[] = [];
  let characters = 0;
  for (const { role, parts } of turns) {
    if (role !== "assistant") continue;
    for (const part of parts) {
      if (part.type !== "tool_call") continue;
      texts.push(part.arguments);
      characters += part.arguments.length;
    }
  }
  if (characters <= FEW_CHARACTERS) return;
  const exceeded = exceededBound(texts.join(","), BOUNDS);
  if (!exceeded) return;
  const reason = `The arguments of its calls have more than ${BOUNDS[exceeded]} ${exceeded}.`;
  throw untranslatable(params.turns ?? "messages", reason);
}
