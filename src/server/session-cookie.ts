import { AdminError } from "../admin/admin-error.ts";
import { callerBase, type HttpExchange, type Reachability } from "./http-exchange.ts";

/** Reads a cookie. Over https, a prefix of the cookie's name ties it to host, path and scheme (RFC 6265bis). */
export function readCookie(reach: Reachability, exchange: HttpExchange, name: string): string | null {
  const cookies = new Bun.CookieMap(exchange.request.headers.get("cookie") ?? "");
  return cookies.get(prefixed(reach, exchange, name)) || null;
}

interface CookieOptions {
  /** With `Lax`, the browser also sends the cookie when the user follows a link from another site. */
  sameSite?: "Strict" | "Lax";
  maxAgeSeconds?: number;
}

/** Returns a `Set-Cookie` header for a cookie that scripts cannot read. An empty value removes the cookie. */
export function writeCookie(
  reach: Reachability,
  exchange: HttpExchange,
  [name, value]: [name: string, value: string],
  { sameSite = "Strict", maxAgeSeconds }: CookieOptions = {},
): string {
  const age = value === "" ? 0 : maxAgeSeconds;
  return [
    `${prefixed(reach, exchange, name)}=${value}`,
    "Path=/",
    "HttpOnly",
    `SameSite=${sameSite}`,
    ...(isSecure(reach, exchange) ? ["Secure"] : []),
    ...(age === undefined ? [] : [`Max-Age=${age}`]),
  ].join("; ");
}

/**
 * Throws a 403 for a request that a page of another origin made the browser send. Browsers show this by
 * `Sec-Fetch-Site`, older browsers by `Origin`. A request without both headers is allowed only with `mayBeUnknown`.
 */
export function requireSameOrigin(
  reach: Reachability,
  exchange: HttpExchange,
  { mayBeUnknown = false }: { mayBeUnknown?: boolean } = {},
): void {
  const { headers } = exchange.request;
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if (site === null && origin === null && mayBeUnknown) return;
  const isSame = site === null ? isOwnHost(reach, exchange, origin) : site === "same-origin";
  if (!isSame)
    throw new AdminError(403, null, "only pages of this gateway may send this; programs use an admin token");
}

function isOwnHost(reach: Reachability, { request, server }: HttpExchange, origin: string | null): boolean {
  const host = URL.parse(origin ?? "")?.host;
  if (!host) return false;
  const bases = [callerBase(request, server, reach.trustedProxies), reach.publicUrl ?? ""];
  return bases.some((base) => URL.parse(base)?.host === host);
}

function prefixed(reach: Reachability, exchange: HttpExchange, name: string): string {
  return isSecure(reach, exchange) ? `__Host-${name}` : name;
}

function isSecure({ publicUrl, trustedProxies }: Reachability, { request, server }: HttpExchange): boolean {
  return [publicUrl ?? "", callerBase(request, server, trustedProxies)].some((base) =>
    base.startsWith("https:"),
  );
}
