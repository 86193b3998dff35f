/**
 * A wire dialect is the same language whether it is served or called, so it stands below both ends.
 */
export type TextDialectName = "chat";

/** A message as it was said: its exact text, and our reading of it. Repeating it repeats every character. */
export interface Payload<Parsed = unknown> {
  dialect: TextDialectName;
  raw: string;
  parsed: Parsed;
}
