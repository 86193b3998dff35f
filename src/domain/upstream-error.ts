/**
 * Trouble with a vendor, classified where the status and the typed body are still at hand. Failover, health and
 * the caller's answer are decided from `kind` alone.
 *
 * | kind | means | fails over |
 * | --- | --- | --- |
 * | `unreachable` | no connection, or it broke before an answer began | yes |
 * | `timeout` | a deadline passed | yes, but see `isAmbiguous` |
 * | `overloaded` | the vendor is in trouble (5xx, 529) | yes |
 * | `limited` | the vendor throttles (429) | yes |
 * | `account` | credential, balance, quota or model access is gone (401, 402 or a typed code) | yes |
 * | `broken` | the answer is not what the protocol says (HTML, truncated, no picture, uncoded 403 or 404) | yes |
 * | `refused` | the content was refused | only where the policy says so |
 * | `rejected` | the request was found wrong (400, 413, 422) | no, but see `isUnsent` |
 */
export type UpstreamErrorKind =
  "unreachable" | "timeout" | "overloaded" | "limited" | "account" | "broken" | "refused" | "rejected";

export interface UpstreamErrorDetail {
  /** HTTP status, when there was one. */
  status?: number;
  /** The vendor's own hint. */
  retryAfterSeconds?: number;
  /** True when the request was fully sent and may have been carried out (and paid for) although no answer came. */
  isAmbiguous?: boolean;
  /** For `rejected` and `refused`: what may be told to the caller, free of vendor names; else a general sentence is used. */
  publicMessage?: string;
  /** For `rejected`: the field the vendor named. */
  param?: string;
  /** For `rejected`: found out here, before anything was sent, of this vendor alone; another one may do it. */
  isUnsent?: boolean;
  /** True when the request may have caused it, so that it tells nothing of the target's health. */
  isByRequest?: boolean;
  cause?: unknown;
}

export class UpstreamError extends Error {
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly isAmbiguous: boolean;
  readonly publicMessage: string | undefined;
  readonly param: string | undefined;
  readonly isUnsent: boolean;
  readonly isByRequest: boolean;

  /** `message` is for the operator's log and may name the vendor. */
  constructor(
    readonly kind: UpstreamErrorKind,
    message: string,
    detail: UpstreamErrorDetail = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = "UpstreamError";
    this.status = detail.status;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.isAmbiguous = detail.isAmbiguous ?? false;
    this.publicMessage = detail.publicMessage;
    this.param = detail.param;
    this.isUnsent = detail.isUnsent ?? false;
    this.isByRequest = detail.isByRequest ?? false;
  }
}
