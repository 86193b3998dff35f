export type SafeFetchFault =
  /** The link, a redirect or an address is not allowed. */
  | "not_allowed"
  /**
   * The content did not arrive completely and in time, or the response has a status other than 200 or has a content
   * coding.
   */
  | "failed"
  | "too_large";

/** A failed download or post. `detail` is only for the log, because callers must not learn about the target. */
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
