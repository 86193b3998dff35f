import { GatewayError } from "../domain/gateway-error.ts";
import { declaredLength } from "./body-length.ts";
import type { ErrorFamily, OtherMethods, RouteTable } from "./routes.ts";

/** Why a request has no handler, and the shape in which its caller reads that. */
export interface Refusal {
  error: GatewayError;
  family: ErrorFamily;
  headers?: Record<string, string>;
}

/** Duplicate headers arrive comma-joined; a proxy may have used another one of them (request smuggling, RFC 9112). */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Why a request is refused for its Host or its length, on every path; null where both are as they should be. */
export function badHead(request: Pick<Request, "headers">, path: string): Refusal | null {
  const host = request.headers.get("host");
  if (host !== null && !HOST.test(host))
    return badHeader("Send a single Host header that names a host.", path);
  if (Number.isNaN(declaredLength(request)))
    return badHeader("Send a single Content-Length header, in digits.", path);
  return null;
}

function badHeader(message: string, path: string): Refusal {
  return { error: new GatewayError("invalid_parameter", message), family: likelyFamily(path) };
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
