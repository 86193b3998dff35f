import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

/* How the console's playground uses a key without its secret: by its id, with the session of an administrator. */
const HEADER = "x-gateway-playground-key";
const BODY = { model: "sandbox-chat", messages: [{ role: "user", content: "Say hello." }] };

let gateway: TestGateway;
let cookie: string;
let keyId: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  cookie = await signIn("admin", "a-password-for-tests");
  keyId = JSON.parse(await gateway.cli("keys", "create", "--name", "tried", "--json")).key.id;
}, 30_000);
afterAll(() => gateway[Symbol.asyncDispose]());

async function signIn(name: string, password: string): Promise<string> {
  const response = await fetch(`${gateway.url}/admin/v1/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name, password }),
  });
  expect(response.status).toBe(200);
  return response.headers.get("set-cookie")!.split(";")[0]!;
}

function chat(headers: Record<string, string | undefined>, path = "/v1/chat/completions"): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", ...headers },
    body: JSON.stringify(BODY),
  });
}

async function refusal(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: { code?: string; type: string } };
  return [response.status, error.code ?? error.type];
}

test("a session and a key's id stand for the key: its charge, no other mark", async () => {
  const response = await chat({ cookie, [HEADER]: keyId, "x-request-id": "from-the-playground" });
  expect(response.status).toBe(200);
  const [row] = await gateway.charged("from-the-playground");
  expect(row).toMatchObject({ key_id: keyId, kind: "charge", flags: [] });
});

test("a key in the headers wins over the session", async () => {
  const headers = { cookie, [HEADER]: keyId, authorization: `Bearer ${gateway.key}` };
  await chat({ ...headers, "x-request-id": "by-its-secret" });
  const [row] = await gateway.charged("by-its-secret");
  expect(row!.key_id).not.toBe(keyId);
  expect(await refusal(await chat({ ...headers, authorization: "Bearer gk_wrong" }))).toEqual([
    401,
    "authentication_required",
  ]);
});

test.each([
  ["no session", () => ({ [HEADER]: keyId })],
  ["an unknown session", () => ({ [HEADER]: keyId, cookie: "gateway_session=made-up" })],
  ["an unknown key", () => ({ [HEADER]: "key_unknown", cookie })],
  ["another site", () => ({ [HEADER]: keyId, cookie, "sec-fetch-site": "cross-site" })],
  [
    "another origin",
    () => ({ [HEADER]: keyId, cookie, "sec-fetch-site": undefined, origin: "https://elsewhere.example" }),
  ],
  ["no word where it comes from", () => ({ [HEADER]: keyId, cookie, "sec-fetch-site": undefined })],
])("with %s it is refused", async (_, headers) => {
  expect(await refusal(await chat(headers()))).toEqual([401, "authentication_required"]);
});

describe("a member", () => {
  /** Signs in somebody new; a generated password would have to be changed first. */
  async function member(name: string, role: string, organizations: "*" | string[]): Promise<string> {
    const password = "a-long-password-for-tests";
    const response = await fetch(`${gateway.url}/admin/v1/members`, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", cookie },
      body: JSON.stringify({ name, role, organizations, password }),
    });
    expect(response.status).toBe(200);
    return await signIn(name, password);
  }

  test.each(["viewer", "billing"])("who is %s uses no key", async (role) => {
    const own = await member(role, role, "*");
    expect(await refusal(await chat({ [HEADER]: keyId, cookie: own }))).toEqual([
      401,
      "authentication_required",
    ]);
  });

  test("who administers another organization uses no key of this one", async () => {
    await gateway.cli("orgs", "create", "--name", "Elsewhere", "--id", "elsewhere");
    const foreign = await member("foreign", "admin", ["elsewhere"]);
    expect(await refusal(await chat({ [HEADER]: keyId, cookie: foreign }))).toEqual([
      401,
      "authentication_required",
    ]);
    const own = await member("own", "admin", ["default"]);
    expect((await chat({ [HEADER]: keyId, cookie: own })).status).toBe(200);
  });
});

test("a read from another site is refused, too", async () => {
  const headers = { cookie, [HEADER]: keyId, "sec-fetch-site": "same-site" };
  expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(401);
  const own = { ...headers, "sec-fetch-site": "same-origin" };
  expect((await fetch(`${gateway.url}/v1/models`, { headers: own })).status).toBe(200);
});

test("a session without a key's id is no key", async () => {
  expect(await refusal(await chat({ cookie }))).toEqual([401, "missing_api_key"]);
});

test("a disabled key and one of other addresses are refused", async () => {
  const make = async (...args: string[]): Promise<string> =>
    JSON.parse(await gateway.cli("keys", "create", "--name", "refused", ...args, "--json")).key.id;
  const elsewhere = await make("--address", "10.0.0.0/8");
  expect(await refusal(await chat({ cookie, [HEADER]: elsewhere }))).toEqual([403, "ip_not_allowed"]);
  const disabled = await make();
  await gateway.cli("keys", "disable", disabled);
  await until("the key to be refused", async () => {
    const response = await chat({ cookie, [HEADER]: disabled });
    return response.status === 401 ? true : undefined;
  });
});
