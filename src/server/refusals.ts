import { GatewayError } from "../domain/gateway-error.ts";
import { declaredLength } from "./entrance/body-length.ts";
import type { ErrorFamily, OtherMethods, RouteTable } from "./routes.ts";

/** The reason why a request has no handler, and the shape of its error. */
export interface HttpRefusal {
  error: GatewayError;
  family: ErrorFamily;
  headers?: Record<string, string>;
}

/**
 * Duplicate headers arrive joined by commas; a proxy may have used another one of them (request smuggling, RFC 9112).
 */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Returns the refusal of a request for its Host or its length, on every path; null where both are valid. */
export function badHead(request: Pick<Request, "headers">, path: string): HttpRefusal | null {
  const host = request.headers.get("host");
  if (host !== null && !HOST.test(host))
    return badHeader("Send a single Host header that names a host.", path);
  if (Number.isNaN(declaredLength(request)))
    return badHeader("Send a single Content-Length header, in digits.", path);
  return null;
}

function badHeader(message: string, path: string): HttpRefusal {
  return { error: new GatewayError("invalid_parameter", message), family: likelyFamily(path) };
}

/**
 * Returns the refusal of a path with dot segments: a proxy that decides by the path as sent would have allowed another
 * path than the gateway serves.
 */
export function badTarget(): HttpRefusal {
  const message = "Send the path as it is, without `.` or `..` segments and backslashes.";
  return { error: new GatewayError("invalid_parameter", message), family: "images" };
}

/**
 * Returns the refusal of a path and method without a route, with advice where the client's base address is the likely
 * reason.
 */
export function notRouted(
  found: OtherMethods | null,
  table: RouteTable,
  method: string,
  path: string,
): HttpRefusal {
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

/** Returns the error shape that clients of a path of this form read. */
function likelyFamily(path: string): ErrorFamily {
  if (/\/models\/[^/]+:\w+$/.test(path)) return "native";
  return /\/messages(?:\/|$)/.test(path) ? "messages" : "images";
}

/**
 * Returns the path that a client has meant whose base address has one version segment too few or too many; null when
 * there is none.
 */
function servedPath(table: RouteTable, method: string, path: string): string | null {
  const trimmed = path.replaceAll(/\/{2,}/g, "/").replace(/\/$/, "");
  const meant = [trimmed, trimmed.replace(/^\/v1(?=\/v1(?:beta)?\/)/, ""), `/v1${trimmed}`];
  for (const each of meant) {
    const found = table.find(method, each);
    if (found && "route" in found) return each;
  }
  return null;
}
