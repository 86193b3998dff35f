type MultipartFault =
  /** The body is not a form, or is cut short. */
  | "malformed"
  | "too_many_parts"
  /** One part is longer than its limit; `part` names it. */
  | "too_large"
  | "body_too_large"
  | "invalid_base64"
  /** A text value that is not UTF-8. */
  | "invalid_text";

/** The form cannot be read. `part` is the field's name if it is known. */
export class MultipartError extends Error {
  override readonly name = "MultipartError";
  constructor(
    readonly reason: MultipartFault,
    readonly part?: string,
  ) {
    super(part === undefined ? reason : `${reason} in ${JSON.stringify(part)}`);
  }
}
