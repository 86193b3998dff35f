import type { GatewayError } from "../../domain/gateway-error.ts";

/** The body of an error of the native protocol; `details` has the gateway's code, and whether and when to retry. */
export interface NativeErrorBody {
  error: { code: number; message: string; status: string; details: (ErrorInfo | RetryInfo | QuotaFailure)[] };
}

/** Official clients find the reason by this type (google.rpc.ErrorInfo). */
interface ErrorInfo {
  "@type": "type.googleapis.com/google.rpc.ErrorInfo";
  reason: string;
  domain: string;
}

/** When to retry; Gemini CLI reads this and not `Retry-After` (google.rpc.RetryInfo). */
interface RetryInfo {
  "@type": "type.googleapis.com/google.rpc.RetryInfo";
  /** Seconds with the unit: `7s`. */
  retryDelay: string;
}

/** A quota that a retry does not bring back (google.rpc.QuotaFailure). */
interface QuotaFailure {
  "@type": "type.googleapis.com/google.rpc.QuotaFailure";
  violations: { description: string; quotaId: string }[];
}

/** Gemini CLI ends at once where the id has `PerDay`, and repeats every other 429 for a while. */
const SPENT_BUDGET = "SpendPerDayOrMonthPerBudget";

/** The service that the reasons belong to. */
const DOMAIN = "model-inference-gateway";

/** Canonical names by HTTP status (google.rpc.Code). */
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

/** Writes an error of the native protocol. */
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
