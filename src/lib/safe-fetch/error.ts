export type SafeFetchFault =
  /** The link or a redirect is not allowed. */
  | "not_allowed"
  /** The content did not arrive whole and in time, or the response has another status than 200 or a content coding. */
  | "failed"
  | "too_large";

/** A link was not fetched. `detail` is only for the operator's log: callers must not learn about the target. */
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
