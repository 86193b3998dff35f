import { GatewayError } from "../domain/gateway-error.ts";
import type { ErrorFamily, OtherMethods, RouteTable } from "./routes.ts";

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

/** Why nothing serves `path` by `method`, with what to change where the base address of a client is the likely reason. */
export function notRouted(
  found: OtherMethods | null,
  table: RouteTable,
  method: string,
  path: string,
): Refusal {
  if (!found) {
    const served = servedPath(table, method, path);
    const advice =
      served === null ? "" : ` \`${served}\` is served: check the base address that the client is set to.`;
    return {
      error: new GatewayError("not_found", `There is nothing at this path.${advice}`),
      family: likelyFamily(path),
    };
  }
  const allow = found.allow.join(", ");
  const advice = path === "/" ? " The interfaces are below `/v1`, the console is at `/console`." : "";
  const error = new GatewayError("method_not_allowed", `This path answers ${allow}.${advice}`);
  return { error, family: found.family, headers: { allow } };
}

/** Whose clients call a path of this form: they read the error in their own shape. */
function likelyFamily(path: string): ErrorFamily {
  if (/\/models\/[^/]+:\w+$/.test(path)) return "native";
  return /\/messages(?:\/|$)/.test(path) ? "messages" : "images";
}

/** The path that a client with a base address that is a version too short or too long has meant, or null. */
function servedPath(table: RouteTable, method: string, path: string): string | null {
  const trimmed = path.replaceAll(/\/{2,}/g, "/").replace(/\/$/, "");
  const meant = [trimmed, trimmed.replace(/^\/v1(?=\/v1(?:beta)?\/)/, ""), `/v1${trimmed}`];
  for (const each of meant) {
    const found = table.find(method, each);
    if (found && "route" in found) return each;
  }
  return null;
}
