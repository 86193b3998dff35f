/** A wire format of text models. It is the same at both ends, served and called. */
export type TextDialectName = "chat";

/** A message as it was sent: its exact text, which is forwarded character for character, and what was parsed of it. */
export interface Payload<Parsed = unknown> {
  dialect: TextDialectName;
  raw: string;
  parsed: Parsed;
}
