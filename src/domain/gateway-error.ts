import { ExpectedError } from "./expected-error.ts";
import type { LimitState } from "./limits.ts";

/**
 * Every deliberate error response of the gateway: thrown once, by code, and rendered by the dialect of the route.
 */
export const ERROR_CODES = {
  invalid_request_body: { status: 400, kind: "parameter" },
  model_required: { status: 400, kind: "parameter" },
  prompt_required: { status: 400, kind: "parameter" },
  invalid_parameter: { status: 400, kind: "parameter" },
  unsupported_parameter: { status: 400, kind: "parameter" },
  provider_not_allowed: { status: 400, kind: "parameter" },
  too_many_reference_images: { status: 400, kind: "parameter" },
  invalid_image: { status: 400, kind: "parameter" },
  image_fetch_failed: { status: 400, kind: "parameter" },
  image_url_not_allowed: { status: 400, kind: "parameter" },
  unsupported_file_reference: { status: 400, kind: "parameter" },
  context_length_exceeded: { status: 400, kind: "parameter" },
  content_policy_violation: { status: 400, kind: "parameter" },
  model_not_available_for_routing: { status: 400, kind: "parameter" },
  model_retired: { status: 400, kind: "parameter" },
  wrong_endpoint_for_model: { status: 400, kind: "parameter" },
  missing_api_key: { status: 401, kind: "access" },
  authentication_required: { status: 401, kind: "authentication" },
  MODEL_PRICE_NOT_CONFIGURED: { status: 402, kind: "billing" },
  ip_not_allowed: { status: 403, kind: "access" },
  model_not_allowed_for_api_key: { status: 403, kind: "permission" },
  model_not_authorized_for_org: { status: 403, kind: "permission" },
  not_found: { status: 404, kind: "not_found" },
  method_not_allowed: { status: 405, kind: "not_found" },
  idempotency_conflict: { status: 409, kind: "parameter" },
  job_already_ended: { status: 409, kind: "not_found" },
  payload_too_large: { status: 413, kind: "parameter" },
  unsupported_media_type: { status: 415, kind: "parameter" },
  upgrade_required: { status: 426, kind: "not_found" },
  rate_limit_exceeded: { status: 429, kind: "limit" },
  BILLING_BLOCKED: { status: 429, kind: "billing" },
  internal_error: { status: 500, kind: "server" },
  upstream_error: { status: 502, kind: "server" },
  upstream_auth_failed: { status: 502, kind: "server" },
  overloaded: { status: 503, kind: "overload" },
  dependency_unavailable: { status: 503, kind: "overload" },
  upstream_timeout: { status: 504, kind: "server" },
} as const satisfies Record<string, { status: number; kind: ErrorKind }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The kind of error, from which dialects derive their `type`. */
type ErrorKind =
  | "parameter"
  | "access"
  | "authentication"
  | "billing"
  | "permission"
  | "not_found"
  | "limit"
  | "server"
  | "overload";

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
