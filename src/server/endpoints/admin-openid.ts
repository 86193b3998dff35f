import { AdminError } from "../../admin/admin-error.ts";
import { signInByIdentity, type IdentitySettings } from "../../admin/sign-in/identity-provider.ts";
import { baseOf, queryOf, type HttpExchange } from "../http-exchange.ts";
import { openId, type OpenId, type PendingSignIn } from "../openid.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";
import { readCookie, writeCookie } from "../session-cookie.ts";
import { endSession, originOf, sessionCookie, type Administration } from "../signed-in.ts";

const START = "/console/oidc/start";
const CALLBACK = "/console/oidc/callback";
const COOKIE = "gateway_oidc";
/** Maximum time until a member returns from the provider. */
const PENDING_SECONDS = 600;

/** Error codes that the sign-in page shows. */
type Problem = "oidc_unavailable" | "oidc_failed" | "oidc_refused";

/**
 * Routes for signing in at the configured OpenID provider. A cookie contains the state of a pending sign-in, so that
 * any process can finish the sign-in.
 */
export function openIdRoutes(
  admin: Administration,
  onProblem: (message: string, cause: unknown) => void,
): HttpRoute[] {
  const { identity } = admin;
  if (!identity) return [];
  const provider = openId(identity);
  const route = (path: string, handle: (exchange: HttpExchange) => Promise<Response>): HttpRoute => ({
    method: "GET",
    path,
    name: "console.oidc",
    family: "admin",
    auth: "public",
    because: "a sign-in begins without a session",
    handle,
  });
  return [
    route(START, (exchange) => start(admin, provider, exchange, onProblem)),
    route(CALLBACK, (exchange) => finish(admin, { provider, identity }, exchange, onProblem)),
  ];
}

interface Pending extends PendingSignIn {
  /** The page to open after the sign-in. */
  next: string;
}

async function start(
  admin: Administration,
  provider: OpenId,
  exchange: HttpExchange,
  onProblem: (message: string, cause: unknown) => void,
): Promise<Response> {
  try {
    const { location, pending } = await provider.begin(baseOf(admin, exchange) + CALLBACK);
    const next = queryOf(exchange.request.url).get("next") ?? "/";
    const kept: Pending = { ...pending, next };
    const value = Buffer.from(JSON.stringify(kept)).toString("base64url");
    // The cookie is `Lax`: a strict cookie is not sent when the provider's page redirects the browser to the gateway.
    const options = { sameSite: "Lax", maxAgeSeconds: PENDING_SECONDS } as const;
    return redirect(exchange, location, [writeCookie(admin, exchange, [COOKIE, value], options)]);
  } catch (error) {
    onProblem("the identity provider cannot be reached", error);
    return toSignIn(exchange, "oidc_unavailable");
  }
}

async function finish(
  admin: Administration,
  { provider, identity }: { provider: OpenId; identity: IdentitySettings },
  exchange: HttpExchange,
  onProblem: (message: string, cause: unknown) => void,
): Promise<Response> {
  const pending = readPending(readCookie(admin, exchange, COOKIE));
  const forget = writeCookie(admin, exchange, [COOKIE, ""], { sameSite: "Lax" });
  if (!pending) return toSignIn(exchange, "oidc_failed", [forget]);
  const url = new URL(baseOf(admin, exchange) + CALLBACK);
  url.search = queryOf(exchange.request.url).toString();
  try {
    const claims = await provider.finish(url, pending);
    const { token } = await signInByIdentity(admin.context, claims, identity, originOf(admin, exchange));
    await endSession(admin, exchange);
    const cookies = [forget, sessionCookie(admin, exchange, token)];
    return redirect(exchange, consolePath(pending.next), cookies);
  } catch (error) {
    if (error instanceof AdminError) return toSignIn(exchange, "oidc_refused", [forget]);
    onProblem("a sign-in at the identity provider failed", error);
    return toSignIn(exchange, "oidc_failed", [forget]);
  }
}

function readPending(value: string | null): Pending | null {
  try {
    const kept: unknown = JSON.parse(Buffer.from(value ?? "", "base64url").toString());
    const texts = Object.values(kept as object);
    return texts.length === 4 && texts.every((text) => typeof text === "string") ? (kept as Pending) : null;
  } catch {
    return null;
  }
}

/** Returns a path of the console, even if `next` is something else. */
function consolePath(next: string): string {
  const { pathname, search } = new URL(`/console/${next.replace(/^\/+/, "")}`, "http://gateway");
  return pathname.startsWith("/console/") ? pathname + search : "/console";
}

function toSignIn(exchange: HttpExchange, problem: Problem, cookies: string[] = []): Response {
  return redirect(exchange, `/console/sign-in?problem=${problem}`, cookies);
}

function redirect({ requestId }: HttpExchange, location: string, cookies: string[]): Response {
  const headers = new Headers({ ...baseHeaders(requestId), location, "referrer-policy": "no-referrer" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}
