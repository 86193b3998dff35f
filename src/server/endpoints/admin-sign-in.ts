import { readInput } from "../../admin/input.ts";
import { signIn, signInSchema } from "../../admin/sign-in/sign-in.ts";
import { z } from "zod";
import { memberView } from "../../admin/members/operations.ts";
import { memberSchema } from "../../admin/members/schema.ts";
import type { BodyLimits } from "../entrance/body.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";
import { readCookie, requireSameOrigin, writeCookie } from "../session-cookie.ts";
import { endSession, originOf, sessionCookie, type Administration } from "../signed-in.ts";
import { readObject } from "./admin-input.ts";
import { rendered } from "./member-route.ts";

/** Maximum size of a body with a name and a password. It is small, because anybody who can connect may send one. */
const MAX_BODY_BYTES = 16 * 1024;

/** Cookie that is set when a member signs in by password in this browser. */
const BROWSER_COOKIE = "gateway_browser";
const BROWSER_SECONDS = 180 * 24 * 60 * 60;

/** Routes to sign in by a password and to read the available ways to sign in. */
export function signInRoutes(admin: Administration, limits: BodyLimits): HttpRoute[] {
  return [
    {
      method: "POST",
      path: "/admin/v1/session",
      name: "admin.session.create",
      family: "admin",
      auth: "public",
      because: "it checks the name and the password itself",
      handle: (exchange) =>
        rendered(exchange, async () => {
          requireSameOrigin(admin, exchange, { mayBeUnknown: true });
          const { token, browser, member } = await signIn(
            admin.context,
            readInput(signInSchema, await readObject(exchange, limits, MAX_BODY_BYTES)),
            originOf(admin, exchange),
            readCookie(admin, exchange, BROWSER_COOKIE),
          );
          // The earlier session, whose cookie is replaced, ends now, because nobody could end it later.
          await endSession(admin, exchange);
          const headers = new Headers(baseHeaders(exchange.requestId));
          headers.append("set-cookie", sessionCookie(admin, exchange, token));
          const maxAgeSeconds = BROWSER_SECONDS;
          headers.append(
            "set-cookie",
            writeCookie(admin, exchange, [BROWSER_COOKIE, browser], { maxAgeSeconds }),
          );
          return Response.json(z.encode(memberSchema, memberView(member)), { headers });
        }),
    },
    {
      method: "GET",
      path: "/admin/v1/sign-in",
      name: "admin.sign-in",
      family: "admin",
      auth: "public",
      because: "the page shows the ways to sign in before a sign-in",
      handle: async ({ requestId }) =>
        Response.json(
          { password: true, oidc: admin.identity && { label: admin.identity.label } },
          { headers: baseHeaders(requestId) },
        ),
    },
  ];
}
