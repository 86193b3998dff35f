/**
 * A change that administration refuses. The message names what to change and no secret; `field` is the
 * input's path, null when no single field is wrong.
 */
export class AdminError extends Error {
  override readonly name = "AdminError";

  constructor(
    /** 400 wrong input, 404 no such thing, 409 in conflict with what exists. */
    readonly status: 400 | 404 | 409,
    readonly field: string | null,
    message: string,
  ) {
    super(message);
  }
}
