import { GatewayError } from "../domain/gateway-error.ts";
import type { ErrorFamily, OtherMethods } from "./routes.ts";

/** Why a request has no handler, and the shape in which its caller reads that. */
export interface Refusal {
  error: GatewayError;
  family: ErrorFamily;
  headers?: Record<string, string>;
}

export function badHost(): Refusal {
  const error = new GatewayError("invalid_parameter", "Send a single Host header that names a host.");
  return { error, family: "images" };
}

/** A proxy that decides by the path as it was sent would have allowed another one than the gateway serves. */
export function badTarget(): Refusal {
  const message = "Send the path as it is, without `.` or `..` segments and backslashes.";
  return { error: new GatewayError("invalid_parameter", message), family: "images" };
}

export function notRouted(found: OtherMethods | null): Refusal {
  if (!found) {
    return { error: new GatewayError("not_found", "There is nothing at this path."), family: "images" };
  }
  const allow = found.allow.join(", ");
  const error = new GatewayError("method_not_allowed", `This path answers ${allow}.`);
  return { error, family: found.family, headers: { allow } };
}
