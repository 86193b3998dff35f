/**
 * A change that administration refuses. The message names what to change and no secret; `field` is the
 * input's path, null when no single field is wrong.
 */
export class AdminError extends Error {
  override readonly name = "AdminError";

  constructor(
    /**
     * 400 wrong input, 401 not signed in, 403 not allowed, 404 not found, 409 in conflict with existing data, 429 too
     * often.
     */
    readonly status: 400 | 401 | 403 | 404 | 409 | 429,
    readonly field: string | null,
    message: string,
    /** `type` distinguishes errors of one status; `retryAfterSeconds` is the time after which a retry may succeed. */
    readonly more: { type?: "code_required" | "password_change_required"; retryAfterSeconds?: number } = {},
  ) {
    super(message);
  }
}
