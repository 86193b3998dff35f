import type { GatewayError } from "../../domain/gateway-error.ts";

/** The body of an error of the native protocol; `details` has the gateway's code. */
export interface NativeErrorBody {
  error: { code: number; message: string; status: string; details: ErrorInfo[] };
}

/** Official clients find the reason by this type (google.rpc.ErrorInfo). */
interface ErrorInfo {
  "@type": "type.googleapis.com/google.rpc.ErrorInfo";
  reason: string;
  domain: string;
}

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
export function writeError({ code, status, message }: GatewayError): NativeErrorBody {
  const name = STATUS_NAMES[status] ?? (status < 500 ? "INVALID_ARGUMENT" : "INTERNAL");
  const info = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: code,
    domain: DOMAIN,
  } as const satisfies ErrorInfo;
  return { error: { code: status, message, status: name, details: [info] } };
}
