import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { saneCount } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { fetchGuarded } from "./network.ts";
import { parseResponse, readText } from "./http.ts";
import { readRetryAfter } from "./retry-after.ts";
import { kindOfStatus } from "./vendor-errors.ts";
import type { GrantedToken } from "./access-tokens.ts";
import { systemClock } from "../../lib/clock.ts";

/**
 * Requests an access token (RFC 6749, 5). Throws an `UpstreamError` that contains no part of the request. The error is
 * never ambiguous, because the vendor has not been called yet.
 */
export async function requestToken(url: string, request: TokenRequest): Promise<GrantedToken> {
  try {
    const response = await fetchGuarded(url, { ...request, redirect: "manual", proxy: request.proxy });
    const reading = Promise.resolve(readText(response, MAX_BYTES, request.signal));
    if (response.status !== 200) throw refused(response, await reading.catch(() => ""));
    return readGrant(parseResponse(await reading));
  } catch (error) {
    if (error instanceof UpstreamError) throw unambiguous(error);
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const name = String(code ?? (error instanceof Error ? error.name : "failed"));
    throw new UpstreamError("unreachable", `no response from the token server (${name})`, { cause: error });
  }
}

interface TokenRequest {
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
  /** False when the call must bypass the proxy of the environment variables. */
  proxy?: false;
}

const MAX_BYTES = 64 * 1024;

/** Error kinds by status. A token request concerns only the credential, so its refusal is a problem of the account. */
const ACCOUNT_STATUSES: Readonly<Record<number, UpstreamErrorKind>> = {
  400: "account",
  403: "account",
  404: "account",
};

function refused({ status, headers }: Response, text: string): UpstreamError {
  const kind = kindOfStatus(status, ACCOUNT_STATUSES);
  const reason = /"error"\s*:\s*"([a-z_]{1,40})"/.exec(text)?.[1] ?? "no reason";
  return new UpstreamError(kind, `the token server responded ${status}: ${reason}`, {
    status,
    retryAfterSeconds: kind === "account" ? undefined : readRetryAfter(headers, systemClock.now()),
  });
}

function readGrant(parsed: unknown): GrantedToken {
  const token = isObject(parsed) ? parsed["access_token"] : undefined;
  // Managed identities of Azure send this number as a string.
  const lifetimeSeconds = isObject(parsed) ? saneCount(Number(parsed["expires_in"])) : null;
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
