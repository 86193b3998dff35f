import { UpstreamError } from "../../domain/upstream-error.ts";
import { ownValue } from "../../lib/json.ts";
import type { Conversation } from "./request.ts";

/**
 * Returns the error for a request that the vendor's protocol cannot express. Nothing was sent, so another target may
 * take the request. `param` is the caller's field. `reason` describes the problem with the field's content; without
 * `reason`, the field itself is the problem.
 */
export function untranslatable(param: string, reason?: string): UpstreamError {
  const publicMessage =
    reason === undefined
      ? `This model is not offered with \`${param}\`. Leave it out, or choose another model.`
      : `This model does not take \`${param}\` as it is. ${reason}`;
  return new UpstreamError("rejected", `${param} cannot be translated`, {
    publicMessage,
    param,
    isUnsent: true,
    isByRequest: true,
  });
}

/** Returns the conversation. Throws for a field that only the caller's protocol has, so that no content is lost. */
export function translatable(conversation: Conversation): Conversation {
  const [ownField] = conversation.ownFields;
  if (ownField !== undefined) throw untranslatable(ownField);
  return conversation;
}

/** Rules for the fields of a request that a dialect does not translate. */
interface OtherFields {
  known: ReadonlySet<string>;
  /** Names of hints without an equivalent in other protocols. */
  hints: ReadonlySet<string>;
  /** For each field, a test that returns true when the field's value requests nothing. */
  neutral: Readonly<Record<string, (value: unknown) => boolean>>;
}

/**
 * Returns the names of fields that have a value and request something. `ownHints` are names in `hints`; `ownFields` are
 * names in neither `known` nor `hints`.
 */
export function readOwnNames(
  body: Readonly<Record<string, unknown>>,
  { known, hints, neutral }: OtherFields,
): { ownHints: string[]; ownFields: string[] } {
  const ownHints: string[] = [];
  const ownFields: string[] = [];
  for (const name in body) {
    const value = body[name];
    if (value === undefined || value === null || known.has(name) || ownValue(neutral, name)?.(value))
      continue;
    if (!hints.has(name)) ownFields.push(name);
    else if (!isEmpty(value)) ownHints.push(name);
  }
  return { ownHints, ownFields };
}

/** True for a value that requests nothing because it is empty. */
function isEmpty(value: unknown): boolean {
  if (value === false || value === "") return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
