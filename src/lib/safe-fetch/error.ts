export type SafeFetchFault =
  /** The link, or one it led to, is not one we fetch. */
  | "not_allowed"
  /** It could not be had: no answer, not in time, not with status 200. */
  | "failed"
  | "too_large";

/** A link was not fetched. `detail` is for the operator's log: a caller must not learn about the target. */
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
