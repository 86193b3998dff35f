import { ExpectedError } from "./expected-error.ts";
import { ERROR_CODES, type ErrorCode, type ErrorKind } from "./error-codes.table.ts";
import type { LimitState } from "./limits.ts";

/** Statuses that a retry cannot avoid. Some clients retry anyway, most of all after 401, and never show the error. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 402, 403, 404]);

interface ErrorDetail {
  /** Name of the request field to change. */
  param?: string;
  /** Whole seconds for the `Retry-After` header; absent when the response has no such header. */
  retryAfterSeconds?: number;
  /**
   * `false` adds the header `x-should-retry: false`, which the official clients obey. When absent, the header is added
   * for one of the `FINAL_STATUSES` without `retryAfterSeconds`.
   */
  shouldRetry?: false;
  /** State of the limits for the rate-limit headers, when a limit refused the request. */
  limitState?: LimitState;
  /**
   * True to close the connection after the response, because the rest of the body would take too long. An `overloaded`
   * response always closes the connection.
   */
  closesConnection?: true;
  /** The original error, only for the log. The caller never sees it. */
  cause?: unknown;
}

/** An error response that the gateway sends on purpose, thrown by its code and rendered by the route's dialect. */
export class GatewayError extends ExpectedError {
  readonly status: number;
  readonly kind: ErrorKind;
  readonly param: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly shouldRetry: false | undefined;
  readonly limitState: LimitState | null;
  readonly closesConnection: boolean;

  /** `message` is for the caller. It contains no vendor, credential or internal address. */
  constructor(
    readonly code: ErrorCode,
    message: string,
    detail: ErrorDetail = {},
  ) {
    super(message, detail.cause);
    this.name = "GatewayError";
    this.status = ERROR_CODES[code].status;
    this.kind = ERROR_CODES[code].kind;
    this.param = detail.param ?? null;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    const isFinal = FINAL_STATUSES.has(this.status) && detail.retryAfterSeconds === undefined;
    this.shouldRetry = isFinal ? false : detail.shouldRetry;
    this.limitState = detail.limitState ?? null;
    this.closesConnection = detail.closesConnection ?? code === "overloaded";
  }
}
