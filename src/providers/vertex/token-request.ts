import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { saneCount } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { parseResponse, readRetryAfter, readText } from "../transport/http.ts";
import type { GrantedToken } from "./access-tokens.ts";

/**
 * Asks a token server for an access token (RFC 6749, 5). Throws an `UpstreamError` that is never ambiguous, since
 * nothing was asked of the vendor yet, and that repeats nothing of what was sent.
 */
export async function askForToken(url: string, request: TokenRequest): Promise<GrantedToken> {
  try {
    const response = await fetch(url, { ...request, redirect: "manual", proxy: request.proxy });
    const body = readText(response, MAX_BYTES, request.signal);
    if (response.status !== 200) throw refused(response, await body.catch(() => ""));
    return readGrant(parseResponse(await body));
  } catch (error) {
    if (error instanceof UpstreamError) throw unambiguous(error);
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const name = String(code ?? (error instanceof Error ? error.name : "failed"));
    throw new UpstreamError("unreachable", `no answer from the token server (${name})`, { cause: error });
  }
}

export interface TokenRequest {
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
  /** False goes straight to the address, whatever the environment says. */
  proxy?: false;
}

const MAX_BYTES = 64 * 1024;

const KIND_BY_STATUS: Readonly<Record<number, UpstreamErrorKind>> = {
  400: "account",
  401: "account",
  403: "account",
  404: "account",
  408: "overloaded",
  429: "limited",
};

function refused({ status, headers }: Response, text: string): UpstreamError {
  const kind = status >= 500 ? "overloaded" : (KIND_BY_STATUS[status] ?? "broken");
  const said = /"error"\s*:\s*"([a-z_]{1,40})"/.exec(text)?.[1] ?? "no reason";
  return new UpstreamError(kind, `the token server answered ${status}: ${said}`, {
    status,
    retryAfterSeconds: kind === "account" ? undefined : readRetryAfter(headers, Date.now()),
  });
}

function readGrant(parsed: unknown): GrantedToken {
  const token = isObject(parsed) ? parsed["access_token"] : undefined;
  const lifetimeSeconds = isObject(parsed) ? saneCount(parsed["expires_in"]) : null;
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token) || !lifetimeSeconds)
    throw new UpstreamError("broken", "the token server gave no token");
  return { token, lifetimeSeconds };
}

function unambiguous(error: UpstreamError): UpstreamError {
  if (!error.isAmbiguous) return error;
  const { status, retryAfterSeconds } = error;
  return new UpstreamError(error.kind, `token server: ${error.message}`, {
    status,
    retryAfterSeconds,
    cause: error,
  });
}
