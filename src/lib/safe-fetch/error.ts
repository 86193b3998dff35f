export type SafeFetchFault =
  /** The link, or a redirect of it, is not allowed. */
  | "not_allowed"
  /** No response in time, or a status other than 200. */
  | "failed"
  | "too_large";

/**
 * A link was not fetched. `detail` is for the operator's log only: a caller must not learn anything about the target.
 */
export class SafeFetchError extends Error {
  override readonly name = "SafeFetchError";
  constructor(
    readonly reason: SafeFetchFault,
    readonly detail: string,
    cause?: unknown,
  ) {
    super(reason, cause === undefined ? undefined : { cause });
  }
}
