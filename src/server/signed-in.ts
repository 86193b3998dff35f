import { operatorMessage } from "../domain/operator-message.ts";
import { AdminError } from "../admin/admin-error.ts";
import { readAdminToken } from "../admin/tokens/tokens.ts";
import type { OperationContext } from "../admin/context.ts";
import type { IdentitySettings } from "../admin/sign-in/identity-provider.ts";
import { forgetSession, readSession } from "../admin/sign-in/sessions.ts";
import type { Origin, SignedIn } from "../admin/sign-in/signed-in.ts";
import type { OutcomeStore } from "../gateway/outcomes.ts";
import { addressOf, type HttpExchange, type Reachability } from "./http-exchange.ts";
import type { UndeclaredProxy } from "./undeclared-proxy.ts";
import { readCookie, requireSameOrigin, writeCookie } from "./session-cookie.ts";

/** The settings and stores that the administrative interface uses. */
export interface Administration extends Reachability {
  /** The store and the current configuration. The endpoint adds the author of a change. */
  context: Omit<OperationContext, "by" | "signedIn">;
  /** The OpenID provider at which members may sign in instead of by password; null for none. */
  identity: IdentitySettings | null;
  /** Outcomes of requests with an idempotency key. */
  outcomes: OutcomeStore;
  undeclaredProxy: UndeclaredProxy;
}

const SESSION_COOKIE = "gateway_session";

/** The sender of an administrative request, and the sender's name in the audit. */
interface SignedInCaller {
  signedIn: SignedIn;
  by: OperationContext["by"];
}

/**
 * Returns the sender of a request: by its admin token if it has one, otherwise by the session's cookie. When a new
 * session token is set, its cookie is added to `outgoing`. Throws an `AdminError`: 401 without a valid token or cookie,
 * 403 when a page of another origin made the browser send a change.
 */
export async function readCaller(
  admin: Administration,
  exchange: HttpExchange,
  outgoing: Headers,
): Promise<SignedInCaller> {
  const origin = originOf(admin, exchange);
  const authorization = exchange.request.headers.get("authorization");
  if (authorization !== null) {
    const { tokenId, ...signedIn } = await readAdminToken(admin.context, bearerOf(authorization));
    return { signedIn, by: { actor: signedIn.member.name, source: `${tokenId}/${origin.address}` } };
  }
  const signedIn = await readConsoleMember(admin, exchange, outgoing);
  return { signedIn, by: { actor: signedIn.member.name, source: `http/${origin.address}` } };
}

/** Returns the member who is signed in to the console. Throws as `readCaller` does. */
export async function readConsoleMember(
  admin: Administration,
  exchange: HttpExchange,
  outgoing: Headers,
): Promise<SignedIn> {
  const token = readCookie(admin, exchange, SESSION_COOKIE);
  if (token === null) throw new AdminError(401, null, operatorMessage("error.signInFirst", {}));
  const { method } = exchange.request;
  if (method !== "GET" && method !== "HEAD") requireSameOrigin(admin, exchange);
  const { session, member } = await readSession(admin.context, token);
  const { role, organizations } = member;
  return {
    member,
    access: { role, organizations },
    session: {
      id: session.id,
      origin: originOf(admin, exchange),
      setToken: (next) => outgoing.append("set-cookie", sessionCookie(admin, exchange, next)),
    },
  };
}

/** True for a request with a session's cookie, even if the session has ended. */
export function hasSessionCookie(reach: Reachability, exchange: HttpExchange): boolean {
  return readCookie(reach, exchange, SESSION_COOKIE) !== null;
}

/** Ends the session of a request's cookie, if there is one. */
export async function endSession(admin: Administration, exchange: HttpExchange): Promise<void> {
  const token = readCookie(admin, exchange, SESSION_COOKIE);
  if (token !== null) await forgetSession(admin.context, token);
}

/** Returns a `Set-Cookie` with the token of a session. A token of null removes the cookie. */
export function sessionCookie(admin: Administration, exchange: HttpExchange, token: string | null): string {
  return writeCookie(admin, exchange, [SESSION_COOKIE, token ?? ""]);
}

/** Returns the address and the user agent of a request for the audit. */
export function originOf(
  { trustedProxies, undeclaredProxy }: Administration,
  exchange: HttpExchange,
): Origin {
  undeclaredProxy.notice(exchange);
  const agent = exchange.request.headers.get("user-agent") ?? "";
  return { address: addressOf(exchange, trustedProxies), agent };
}

function bearerOf(authorization: string): string {
  const token = /^bearer\s+(\S+)$/i.exec(authorization.trim())?.[1];
  if (token === undefined)
    throw new AdminError(401, null, "send an admin token as `Authorization: Bearer ga_…`");
  if (token.startsWith("gk_"))
    throw new AdminError(
      401,
      null,
      "a gateway key calls models; administration needs an admin token or a session",
    );
  return token;
}
