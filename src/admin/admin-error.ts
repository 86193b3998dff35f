/**
 * A change that administration refuses. The message says what to change and holds no secret; `field` is the
 * input's path, null when the trouble is not one field's.
 */
export class AdminError extends Error {
  override readonly name = "AdminError";

  constructor(
    /** 400 wrong input, 404 no such thing, 409 in conflict with what is there. */
    readonly status: 400 | 404 | 409,
    readonly field: string | null,
    message: string,
  ) {
    super(message);
  }
}
