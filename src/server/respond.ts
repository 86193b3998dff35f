import type { AdminError } from "../admin/admin-error.ts";
import { writeError as writeChatError } from "../dialects/chat/index.ts";
import { writeError as writeImageError } from "../dialects/images/error.ts";
import { writeError as writeMessagesError } from "../dialects/messages/index.ts";
import { writeError as writeNativeError } from "../dialects/native/error.ts";
import { writeError as writeResponsesError } from "../dialects/responses/index.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import type { Figures } from "../domain/operator-message.ts";
import type { Problem } from "../domain/schema-problems.ts";
import { declaredLength } from "./entrance/body.ts";
import type { ErrorFamily, OtherMethods, RouteTable } from "./routes.ts";

/** Writers of error bodies, by family of routes. */
const WRITERS: Readonly<Record<ErrorFamily, (error: GatewayError, requestId: string) => object>> = {
  chat: writeChatError,
  messages: writeMessagesError,
  responses: writeResponsesError,
  images: writeImageError,
  native: writeNativeError,
  admin: ({ status, message, param }, requestId) =>
    adminErrorBody(status, message, { field: param, requestId }),
};

const ADMIN_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_input",
  401: "not_signed_in",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  429: "too_many_requests",
};

/** Returns the body of an error of administration. `field` is the path of the wrong input field. */
export function adminErrorBody(
  status: number,
  message: string,
  { field, requestId, type = adminType(status), code, figures, problems }: AdminErrorDetail,
): object {
  const error = { type, message, field, code, figures, problems: problems?.map(problemBody) };
  return { error, requestId };
}

interface AdminErrorDetail extends Pick<AdminError, "field"> {
  requestId: string;
  type?: string | undefined;
  /** Code and figures of the message, if it has them. */
  code?: string | undefined;
  figures?: Figures | undefined;
  /** The problems of which the message consists, each with its own code and figures. */
  problems?: readonly Problem[] | undefined;
}

function problemBody({ path, message, code, figures }: Problem): object {
  return { field: path || null, message, code, figures };
}

function adminType(status: number): string {
  return ADMIN_TYPES[status] ?? (status < 500 ? "invalid_input" : "unavailable");
}

/** Renders an error in the format of its family of routes. */
export function errorResponse(
  error: GatewayError,
  family: ErrorFamily,
  requestId: string,
  extra: Readonly<Record<string, string>> = {},
): Response {
  const body = WRITERS[family](error, requestId);
  const headers: Record<string, string> = { ...baseHeaders(requestId), ...extra };
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(error.retryAfterSeconds);
  if (error.shouldRetry === false) headers["x-should-retry"] = "false";
  return Response.json(body, { status: error.status, headers });
}

/**
 * Returns the headers of every response: the request id under the names that clients of each protocol read, and headers
 * that forbid caching and guessing of the type. An endpoint with cacheable responses sets its own `cache-control`.
 */
export function baseHeaders(requestId: string): Record<string, string> {
  return {
    "x-gateway-request-id": requestId,
    "x-request-id": requestId,
    "request-id": requestId,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
}

/**
 * Returns the header that lists the caller's fields without effect; no header when there are none. The value is limited
 * in length and contains only printable ASCII.
 */
export function ignoredHeader(names: readonly string[]): Record<string, string> {
  if (names.length === 0) return {};
  return { "x-gateway-ignored-params": names.slice(0, 32).map(headerWord).join(", ") };
}

/** Percent-encodes a name and cuts the result to 64 characters, but not inside an encoded character. */
function headerWord(name: string): string {
  let word = "";
  for (const character of name.toWellFormed()) {
    const longer = word + encodeURIComponent(character);
    if (longer.length > 64) break;
    word = longer;
  }
  return word;
}

/** The reason why a request reaches no handler, and the format of its error. */
export interface HttpRefusal {
  error: GatewayError;
  family: ErrorFamily;
  headers?: Record<string, string>;
}

/**
 * Matches one host. Several Host headers arrive joined by commas and never match, because a proxy may have used another
 * one of the hosts (request smuggling, RFC 9112).
 */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Returns the refusal of a request with an invalid Host or length, for any path; null when both are valid. */
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
 * Returns the refusal of a WebSocket handshake on an existing path; null for any other request. Clients such as Codex
 * try a WebSocket first. Only status 426 makes them continue over HTTP at once (RFC 9110, 15.5.22).
 */
export function webSocketRefusal({ headers }: Request, family: ErrorFamily): HttpRefusal | null {
  const protocols = headers.get("upgrade")?.split(",") ?? [];
  if (!protocols.some((each) => /^websocket(?:\/|$)/i.test(each.trim()))) return null;
  const message = "This path takes no WebSocket. Send a plain HTTP request.";
  const error = new GatewayError("upgrade_required", message);
  return { error, family, headers: { upgrade: "HTTP/1.1", connection: "upgrade" } };
}

/** Returns the refusal of a path with dot segments or backslashes. A proxy may have read and checked another path. */
export function badTarget(): HttpRefusal {
  const message = "Send the path as it is, without `.` or `..` segments and backslashes.";
  return { error: new GatewayError("invalid_parameter", message), family: "images" };
}

/** Returns the refusal of a path and method without a route, with advice if the base address is probably wrong. */
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

/** Returns the error format that clients of the path can read. */
function likelyFamily(path: string): ErrorFamily {
  if (/^\/v1(?:beta)?\/.+:\w+$/.test(path)) return "native";
  return /\/messages(?:\/|$)/.test(path) ? "messages" : "images";
}

/**
 * Returns the path that a client probably meant; null when there is none. The client's base address may have a slash
 * too many, or one version segment too few or too many.
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
