import { JSON_BOUNDS, moreThan } from "../../lib/bounded-json.ts";
import { exceededBound } from "../../lib/json.ts";
import type { AssistantPart, Conversation } from "./request.ts";

/** Levels are bounded for each call, where it is parsed. */
const BOUNDS = { ...JSON_BOUNDS, depth: Infinity };
/** Fewer than so many names have, of which each has four characters. */
const FEW_CHARACTERS = 4 * BOUNDS.names;

/**
 * Why the calls of a request or of a reply cannot be translated: together their arguments have more values, names or
 * escapes than may be parsed at once. Null where they can. Arguments are JSON inside of texts, so the bounds of the request
 * or reply do not see them.
 */
export function excessOfCalls(parts: Iterable<AssistantPart>): string | null {
  const texts: string[] = [];
  let characters = 0;
  for (const part of parts) {
    if (part.type !== "tool_call") continue;
    texts.push(part.arguments);
    characters += part.arguments.length;
  }
  if (characters <= FEW_CHARACTERS) return null;
  const exceeded = exceededBound(texts.join(","), BOUNDS);
  return exceeded && `The arguments of its calls have ${moreThan(exceeded)}.`;
}

/** What the assistant has said in all turns. */
export function* assistantParts({ turns }: Conversation): Generator<AssistantPart> {
  for (const turn of turns) if (turn.role === "assistant") yield* turn.parts;
}
