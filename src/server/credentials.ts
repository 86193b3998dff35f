import type { Server } from "bun";
import { plainAddress, type AddressList } from "../lib/cidr.ts";

/**
 * Returns the key in a request's headers. `Authorization` has priority over every other header, valid or not; an empty
 * token is no key. A value of a scheme other than Bearer is returned unchanged, so that it is refused as an unusable
 * key.
 */
export function readSecret(headers: Headers, otherHeaders: readonly string[]): string | null {
  const authorization = headers.get("authorization");
  if (authorization !== null) {
    const token = /^bearer(?:\s+(.*))?$/i.exec(authorization.trim());
    return (token ? token[1]?.trim() : authorization.trim()) || null;
  }
  for (const name of otherHeaders) {
    const value = headers.get(name)?.trim();
    if (value) return value;
  }
  return null;
}

/**
 * Returns the caller's address: the peer's, or behind trusted proxies the last address in `X-Forwarded-For`, read from
 * the right, that is not one of theirs. A port that a balancer appends to an address is removed.
 */
export function callerAddress(request: Request, server: Server<undefined>, trusted: AddressList): string {
  const peer = plainAddress(server.requestIP(request)?.address ?? "");
  if (!trusted.has(peer)) return peer;
  const forwarded = request.headers.get("x-forwarded-for")?.split(",") ?? [];
  for (const entry of forwarded.reverse()) {
    const address = plainAddress(withoutPort(entry.trim()));
    if (!trusted.has(address)) return address;
  }
  return peer;
}

/** Removes the port: `10.0.0.1:5555` becomes `10.0.0.1`, and `[2001:db8::1]:5555` becomes `2001:db8::1`. */
function withoutPort(entry: string): string {
  const [, v6, v4] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(entry) ?? [];
  return v6 ?? v4 ?? entry;
}

/** Returns the base address that the caller used, without a trailing slash; a trusted proxy may declare it. */
export function callerBase(request: Request, server: Server<undefined>, trusted: AddressList): string {
  // The URL of a request without a Host (HTTP/1.0) is only a path.
  const origin = request.url.startsWith("/")
    ? `http://${server.hostname}:${server.port}`
    : request.url.slice(0, request.url.indexOf("/", 8));
  const forwarded = {
    scheme: request.headers.get("x-forwarded-proto"),
    host: request.headers.get("x-forwarded-host"),
  };
  if (forwarded.scheme === null && forwarded.host === null) return origin;
  if (!trusted.has(plainAddress(server.requestIP(request)?.address ?? ""))) return origin;
  const host = request.headers.get("host") ?? "";
  const base = { scheme: forwarded.scheme ?? "http", host: forwarded.host ?? host };
  return /^https?$/.test(base.scheme) && /^[\w.:[\]-]+$/.test(base.host)
    ? `${base.scheme}://${base.host}`
    : origin;
}
