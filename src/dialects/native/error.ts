import type { GatewayError } from "../../domain/gateway-error.ts";

/** The body of an error of the native protocol. `details` contains the gateway's code and advice for a retry. */
export interface NativeErrorBody {
  error: { code: number; message: string; status: string; details: (ErrorInfo | RetryInfo | QuotaFailure)[] };
}

/** The reason of an error. Official clients find this object by `@type` (google.rpc.ErrorInfo). */
interface ErrorInfo {
  "@type": "type.googleapis.com/google.rpc.ErrorInfo";
  reason: string;
  domain: string;
}

/** The delay before a retry. Gemini CLI reads this delay instead of `Retry-After` (google.rpc.RetryInfo). */
interface RetryInfo {
  "@type": "type.googleapis.com/google.rpc.RetryInfo";
  /** Seconds with a unit: `7s`. */
  retryDelay: string;
}

/** An exhausted quota that will not be available again soon (google.rpc.QuotaFailure). */
interface QuotaFailure {
  "@type": "type.googleapis.com/google.rpc.QuotaFailure";
  violations: { description: string; quotaId: string }[];
}

/** Id of a quota. Gemini CLI stops at once if the id contains `PerDay`, but retries after any other error with 429. */
const SPENT_BUDGET = "SpendPerDayOrMonthPerBudget";

/** Name of the service that defines the reasons of errors. */
const DOMAIN = "model-inference-gateway";

/** Canonical error names by HTTP status (google.rpc.Code). */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  402: "FAILED_PRECONDITION",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  405: "UNIMPLEMENTED",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** Writes an error in the form of the native protocol. */
export function writeError(error: GatewayError): NativeErrorBody {
  const { code, status, message } = error;
  const name = STATUS_NAMES[status] ?? (status < 500 ? "INVALID_ARGUMENT" : "INTERNAL");
  const info = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: code,
    domain: DOMAIN,
  } as const satisfies ErrorInfo;
  return { error: { code: status, message, status: name, details: [info, ...retryDetails(error)] } };
}

function retryDetails({ code, message, retryAfterSeconds }: GatewayError): (RetryInfo | QuotaFailure)[] {
  if (retryAfterSeconds !== undefined)
    return [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${retryAfterSeconds}s` }];
  if (code !== "BILLING_BLOCKED") return [];
  const violations = [{ description: message, quotaId: SPENT_BUDGET }];
  return [{ "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations }];
}
