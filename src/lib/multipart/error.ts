type MultipartFault =
  /** The body is not a form, or is incomplete. */
  | "malformed"
  | "too_many_parts"
  /** One part, or all texts together, are longer than the limit. `part` is the name of the part read last. */
  | "too_large"
  | "body_too_large"
  | "invalid_base64"
  /** A text value is not UTF-8. */
  | "invalid_text";

/** Thrown for a form that cannot be read. `part` is the name of the field if it is known. */
export class MultipartError extends Error {
  override readonly name = "MultipartError";
  constructor(
    readonly reason: MultipartFault,
    readonly part?: string,
  ) {
    super(part === undefined ? reason : `${reason} in ${JSON.stringify(part)}`);
  }
}
