import { ExpectedError } from "./expected-error.ts";
import { ERROR_CODES, type ErrorCode, type ErrorKind } from "./error-codes.table.ts";
import type { LimitState } from "./limits.ts";

/**
 * Statuses that a retry cannot change. Clients would repeat some of these, a 401 above all, and never show what is
 * wrong.
 */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 402, 403, 404]);

interface ErrorDetail {
  /** The request field to change. */
  param?: string;
  /** Whole seconds for `Retry-After`; absent when a retry is useless. */
  retryAfterSeconds?: number;
  /**
   * `false` adds `x-should-retry: false`, which the official clients obey. When absent, the status decides: an error
   * that lasts until the caller or an operator changes something is final, unless `retryAfterSeconds` says when it
   * ends.
   */
  shouldRetry?: false;
  /** The state for the rate headers of a request that a limit refused. */
  limitState?: LimitState;
  /** Closes the connection, for a request whose body is not worth waiting for. */
  closesConnection?: true;
  /** For the log only; the caller never sees it. */
  cause?: unknown;
}

/** Every deliberate error response of the gateway: thrown once, by code, and rendered by the dialect of the route. */
export class GatewayError extends ExpectedError {
  readonly status: number;
  readonly kind: ErrorKind;
  readonly param: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly shouldRetry: false | undefined;
  readonly limitState: LimitState | null;
  readonly closesConnection: boolean;

  /** `message` is for the caller: it states what to change and names no vendor, credential or internal address. */
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
