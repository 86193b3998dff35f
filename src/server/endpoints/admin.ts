import { AdminError } from "../../admin/admin-error.ts";
import type { AdminContext } from "../../admin/context.ts";
import { runOperation, type Operation } from "../../admin/operation.ts";
import { operations } from "../../admin/operations.ts";
import { readSession, signIn, type SignedIn } from "../../admin/sessions.ts";
import type { AddressList } from "../../lib/cidr.ts";
import { requireJson } from "../body.ts";
import { requireLength, tooLarge } from "../decoded-body.ts";
import { addressOf, queryOf, type HttpExchange } from "../http-exchange.ts";
import { adminErrorBody, baseHeaders } from "../respond.ts";
import type { Route } from "../routes.ts";

/** What the administrative interface works with. */
export interface Administration {
  /** The store and what is configured now; the endpoint adds who makes the change. */
  context: Omit<AdminContext, "by">;
  trustedProxies: AddressList;
  /** Whether browsers reach the gateway by https alone. */
  isSecure: boolean;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const COOKIE = "gateway_session";

/** One route for each operation, and those of signing in and out. */
export function adminRoutes(admin: Administration): Route[] {
  const mounted = Object.entries(operations).map(([name, operation]: [string, Operation]) =>
    memberRoute(admin, `admin.${name}`, operation, async (exchange, member) => {
      const context = {
        ...admin.context,
        by: { actor: member.name, source: `http/${addressOf(exchange, admin.trustedProxies)}` },
      };
      return await runOperation(operation, context, member.access, await readInputOf(exchange, operation));
    }),
  );
  return [...mounted, ...sessionRoutes(admin)];
}

type Act = (exchange: HttpExchange, member: SignedIn) => Promise<unknown>;

function memberRoute(
  admin: Administration,
  name: string,
  { method, path }: Pick<Operation, "method" | "path">,
  act: Act,
): Route {
  return {
    method,
    path: `/admin/v1${path}`,
    name,
    family: "admin",
    auth: "member",
    handle: (exchange) =>
      rendered(exchange, async () => {
        const member = await readMember(admin.context, exchange.request);
        return Response.json(await act(exchange, member), { headers: baseHeaders(exchange.requestId) });
      }),
  };
}

function sessionRoutes(admin: Administration): Route[] {
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
          requireSameSite(exchange.request);
          const input = await readObject(exchange);
          const { name, password } = input as { name?: unknown; password?: unknown };
          if (typeof name !== "string" || typeof password !== "string")
            throw new AdminError(400, null, "send `name` and `password` as text");
          const origin = {
            address: addressOf(exchange, admin.trustedProxies),
            agent: exchange.request.headers.get("user-agent") ?? "",
          };
          const { token } = await signIn(admin.context, { name, password }, origin);
          return Response.json(
            { name },
            { headers: { ...baseHeaders(exchange.requestId), "set-cookie": cookie(token, admin) } },
          );
        }),
    },
    memberRoute(admin, "admin.session.get", { method: "GET", path: "/session" }, async (_, member) => ({
      id: member.id,
      name: member.name,
      ...member.access,
    })),
    {
      ...memberRoute(admin, "admin.session.remove", { method: "DELETE", path: "/session" }, async () => ({})),
      handle: (exchange: HttpExchange) =>
        rendered(exchange, async () => {
          const { hash } = await readMember(admin.context, exchange.request);
          await admin.context.store.sessions.remove(hash);
          const headers = {
            ...baseHeaders(exchange.requestId),
            "set-cookie": `${cookie("", admin)}; Max-Age=0`,
          };
          return Response.json({ done: true }, { headers });
        }),
    } as Route,
  ];
}

function cookie(token: string, { isSecure }: Administration): string {
  return `${COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
}

/** Who sent a request. Throws an `AdminError` without a session, and where another site makes the browser change something. */
export async function readMember(
  context: Pick<AdminContext, "store" | "clock">,
  request: Request,
): Promise<SignedIn> {
  const token = new Bun.CookieMap(request.headers.get("cookie") ?? "").get(COOKIE);
  if (!token) throw new AdminError(401, null, "sign in first");
  if (request.method !== "GET" && request.method !== "HEAD") requireSameSite(request);
  return await readSession(context, token);
}

/** Browsers say where a request comes from; one from another site must not use the cookie. */
export function requireSameSite({ headers }: Request): void {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const isSame =
    site === null
      ? origin === null || (URL.canParse(origin) && new URL(origin).host === headers.get("host"))
      : site === "same-origin" || site === "none";
  if (!isSame) throw new AdminError(403, null, "requests from other sites are refused");
}

async function readInputOf(exchange: HttpExchange, { method, path }: Operation): Promise<unknown> {
  const named = /\{([a-zA-Z]+)\}/.exec(path)?.[1];
  const parameter = named === undefined ? {} : { [named]: exchange.parameter };
  if (method === "GET" || method === "DELETE")
    return { ...Object.fromEntries(queryOf(exchange.request.url)), ...parameter };
  return { ...(await readObject(exchange)), ...parameter };
}

async function readObject({ request }: HttpExchange): Promise<object> {
  requireJson(request.headers.get("content-type"));
  requireLength(request, MAX_BODY_BYTES);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of request.body ?? []) {
    length += piece.length;
    if (length > MAX_BODY_BYTES) throw tooLarge(MAX_BODY_BYTES);
    pieces.push(piece);
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(pieces));
    const value: unknown = text === "" ? {} : JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Refused below, as every body that is not an object.
  }
  throw new AdminError(400, null, "the body must be a JSON object");
}

/** Runs an act and renders what administration refuses. */
async function rendered({ requestId }: HttpExchange, act: () => Promise<Response>): Promise<Response> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    const { status, field, message } = error;
    return Response.json(adminErrorBody(status, message, field, requestId), {
      status,
      headers: baseHeaders(requestId),
    });
  }
}
