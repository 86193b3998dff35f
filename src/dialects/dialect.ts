/**
 * A wire dialect is the same language whether it is served or called, so it stands below both ends.
 */
export type TextDialectName = "chat";

/** A message as it was said: the exact bytes, and our reading of them. Repeating it repeats the bytes. */
export interface Payload<Parsed = unknown> {
  dialect: TextDialectName;
  raw: Uint8Array<ArrayBuffer>;
  parsed: Parsed;
}
