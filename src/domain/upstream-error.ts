import { ExpectedError } from "./expected-error.ts";

/**
 * A failed call to a vendor, classified where status and body are known. Failover, health and the response to the
 * caller depend on `kind`, and on the properties below that begin with `is`.
 *
 * | kind | means | fails over |
 * | --- | --- | --- |
 * | `unreachable` | no connection, or it broke before a response began | yes |
 * | `timeout` | a deadline passed | yes, but see `isAmbiguous` |
 * | `overloaded` | the vendor has a problem (5xx, 529) | yes |
 * | `limited` | the vendor throttles (429) | yes |
 * | `account` | credential, balance, quota or model access is missing (401, 402 or a typed code) | yes |
 * | `broken` | the response violates the protocol (HTML, truncated, no picture, uncoded 403 or 404) | yes |
 * | `refused` | the content was refused | only where the policy allows it |
 * | `empty` | a successful response without any content | yes |
 * | `too_long` | the input is longer than this model's context | to a target with a larger context |
 * | `too_large` | the request has more bytes than the vendor takes (413) | yes |
 * | `rejected` | the request is invalid (400, 422) | no, but see `isUnsent` |
 */
export type UpstreamErrorKind =
  | "unreachable"
  | "timeout"
  | "overloaded"
  | "limited"
  | "account"
  | "broken"
  | "refused"
  | "empty"
  | "too_long"
  | "too_large"
  | "rejected";

/** Kinds of errors that the request causes. They say nothing about the target's health. */
export const KINDS_BY_REQUEST: ReadonlySet<UpstreamErrorKind> = new Set<UpstreamErrorKind>([
  "refused",
  "empty",
  "too_long",
  "too_large",
  "rejected",
]);

interface UpstreamErrorDetail {
  /** HTTP status of the response, if it is known. */
  status?: number;
  /** Seconds of the vendor's `retry-after` header. */
  retryAfterSeconds?: number;
  /** True when the vendor may have done the work, and may charge for it, although no usable response arrived. */
  isAmbiguous?: boolean;
  /**
   * The message for the caller, without vendors' names, when the request causes the error. Without it, the caller gets
   * a general message.
   */
  publicMessage?: string;
  /** The vendor's own message. Only the log level `debug` contains it, because it may quote the prompt. */
  vendorMessage?: string;
  /** For `rejected` and `too_long`: the request field to change. */
  param?: string;
  /** For `rejected`: true when only this vendor refuses the request, before any work. Another vendor may accept it. */
  isUnsent?: boolean;
  /** For `account`: true when every target fails for this reason, so that only an operator can help, not a retry. */
  isFinal?: boolean;
  /** True when the request may be the cause. Then the error does not affect the target's health. */
  isByRequest?: boolean;
  cause?: unknown;
}

export class UpstreamError extends ExpectedError {
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  isAmbiguous: boolean;
  publicMessage: string | undefined;
  readonly vendorMessage: string | undefined;
  readonly param: string | undefined;
  readonly isUnsent: boolean;
  isFinal: boolean;
  readonly isByRequest: boolean;
  /** The vendor's own id of the call, which the transport reads from the response. */
  requestId?: string;

  /** `message` is for the operator's log and may name the vendor. */
  constructor(
    readonly kind: UpstreamErrorKind,
    message: string,
    detail: UpstreamErrorDetail = {},
  ) {
    super(message, detail.cause);
    this.name = "UpstreamError";
    this.status = detail.status;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.isAmbiguous = detail.isAmbiguous ?? false;
    this.publicMessage = detail.publicMessage;
    this.vendorMessage = detail.vendorMessage;
    this.param = detail.param;
    this.isUnsent = detail.isUnsent ?? false;
    this.isFinal = detail.isFinal ?? false;
    this.isByRequest = detail.isByRequest ?? false;
  }
}
