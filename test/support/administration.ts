import { join } from "node:path";
import type { TestGateway } from "./gateway.ts";
import { checkResponse } from "./openapi.ts";

/** Any value of a response, which each test checks. */
type Json = ReturnType<typeof JSON.parse>;

/** A member or program that uses a gateway's administrative interface. */
export interface Administrator {
  /** Current session cookie, as `name=value`. */
  cookie: string;
  /** Calls a path below `/admin/v1`; a body is sent as JSON. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Works like `send`, but throws when the call fails. */
  act<Result = Json>(method: string, path: string, body?: unknown): Promise<Result>;
}

export interface Reply {
  status: number;
  headers: Headers;
  body: Json;
}

/** Signs in, by default as the administrator of the first start. Throws on a refusal. */
export async function signIn(
  gateway: Pick<TestGateway, "url">,
  credentials: { name: string; password: string; code?: string } = FIRST,
): Promise<Administrator> {
  const reply = await send(gateway.url, "POST", "/session", credentials);
  if (reply.status !== 200) throw new Error(`not signed in: ${reply.status} ${JSON.stringify(reply.body)}`);
  return administrator(gateway, { cookie: cookieOf(reply)! });
}

/** True when the files of a gateway's SQLite database contain a text. */
export async function isInDatabase({ dataDirectory }: TestGateway, text: string): Promise<boolean> {
  const files = ["gateway.sqlite", "gateway.sqlite-wal"].map((name) => Bun.file(join(dataDirectory, name)));
  const contents = await Promise.all(files.map(async (file) => Buffer.from(await file.arrayBuffer())));
  return contents.some((content) => content.includes(text));
}

const FIRST = { name: "admin", password: "a-password-for-tests" };

/** Returns a client that sends these headers with each request, such as a cookie or an admin token. */
export function administrator(
  { url }: Pick<TestGateway, "url">,
  own: { cookie?: string; authorization?: string },
): Administrator {
  const self: Administrator = {
    cookie: own.cookie ?? "",
    async send(method, path, body, headers = {}) {
      const { authorization } = own;
      const identity: Record<string, string> = authorization ? { authorization } : { cookie: self.cookie };
      const reply = await send(url, method, path, body, { ...identity, ...headers });
      self.cookie = cookieOf(reply) ?? self.cookie;
      return reply;
    },
    async act(method, path, body) {
      const reply = await self.send(method, path, body);
      if (reply.status !== 200)
        throw new Error(`${method} ${path} ended with ${reply.status}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    },
  };
  return self;
}

/**
 * Sends a request to the administrative interface, as a page of the gateway does. `headers` replace the page's own.
 * Throws when the response does not match the gateway's OpenAPI document. A body that is not JSON is returned as text.
 */
export async function send(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: {
      "sec-fetch-site": "same-origin",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    // Each request has its own connection, so that every worker gets requests.
    keepalive: false,
  });
  await checkResponse(method, response.url, response);
  const isJson = response.headers.get("content-type")?.split(";")[0] === "application/json";
  const content = isJson ? await response.json() : await response.text();
  return { status: response.status, headers: response.headers, body: content };
}

/** Returns the cookie that a reply sets, as `name=value`. */
export function cookieOf({ headers }: Pick<Reply, "headers">): string | undefined {
  return headers.getSetCookie()[0]?.split(";")[0];
}
