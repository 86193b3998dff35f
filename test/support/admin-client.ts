import { checkResponse } from "./openapi.ts";
import type { TestGateway } from "./gateway.ts";

export interface AdminClient {
  /** Calls a path below `/admin/v1`; a body makes it a POST. Throws when the response is not as documented. */
  call(path: string, init?: AdminCall): Promise<AdminResponse>;
  /** The same; throws when it is refused. */
  done(path: string, init?: AdminCall): Promise<Answer>;
}

interface AdminCall {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: object;
  headers?: Record<string, string>;
}

// The tests say what they expect of it.
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = any;

interface AdminResponse {
  status: number;
  headers: Headers;
  body: Answer;
}

/** Signs in as the administrator of the first start. */
export async function signInToAdmin(gateway: TestGateway): Promise<AdminClient> {
  const headers = { "content-type": "application/json" };
  const credentials = { name: "admin", password: "a-password-for-tests" };
  const response = await fetch(`${gateway.url}/admin/v1/session`, {
    method: "POST",
    headers,
    body: JSON.stringify(credentials),
  });
  if (!response.ok) throw new Error(`signing in: ${response.status} ${await response.text()}`);
  const cookie = response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  return adminClient(gateway, { cookie });
}

/** A client that proves who it is by these headers. */
export function adminClient(gateway: TestGateway, identity: Record<string, string>): AdminClient {
  const call: AdminClient["call"] = async (path, { method, body, headers = {} } = {}) => {
    const verb = method ?? (body ? "POST" : "GET");
    const url = `${gateway.url}/admin/v1${path}`;
    const response = await fetch(url, {
      method: verb,
      headers: { ...identity, ...(body && { "content-type": "application/json" }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    await checkResponse(verb, url, response);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return {
    call,
    async done(path, init) {
      const response = await call(path, init);
      if (response.status >= 300)
        throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`);
      return response.body;
    },
  };
}
