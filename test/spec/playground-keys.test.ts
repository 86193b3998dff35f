import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

/* The console's playground uses a key without its secret, by the key's id and an administrator's session. */
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

test("a session and a key's id stand for the key: its charge, with the member's name", async () => {
  const response = await chat({ cookie, [HEADER]: keyId, "x-request-id": "from-the-playground" });
  expect(response.status).toBe(200);
  const [row] = await gateway.charged("from-the-playground");
  expect(row).toMatchObject({ key_id: keyId, kind: "charge", flags: [], source: "playground/admin" });
  const read = async (path: string) =>
    await (await fetch(`${gateway.url}/admin/v1${path}`, { headers: { cookie } })).text();
  const { request } = JSON.parse(await read(`/requests/${row!.id}`));
  expect(request).toMatchObject({ keyId, source: "playground/admin" });
  const { data } = JSON.parse(await read("/ledger?requestId=from-the-playground"));
  expect(data).toMatchObject([{ source: "playground/admin" }]);
  const [headings, line] = (await read("/export/ledger?format=csv&requestId=from-the-playground"))
    .trim()
    .split("\n");
  expect([headings, line]).toEqual([
    expect.stringMatching(/,source,sequence,client$/),
    expect.stringMatching(/,playground\/admin,\d+,JavaScript$/),
  ]);
});

test("a failed request and a job of the playground name the member, too; a key's own calls nobody", async () => {
  const own = { cookie, [HEADER]: keyId };
  const send = (path: string, body: object, headers: Record<string, string>) =>
    fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", ...headers },
      body: JSON.stringify(body),
    });
  const failed = await send(
    "/v1/chat/completions",
    { ...BODY, model: "unknown" },
    { ...own, "x-request-id": "failed" },
  );
  expect(failed.status).toBe(400);
  const [line] = await until("the line", () => {
    const found = gateway.logs().filter((each) => each["request_id"] === "failed");
    return found.length > 0 ? found : undefined;
  });
  expect(line).toMatchObject({ key: keyId, source: "playground/admin" });
  const record = await until("the record", async () => {
    const found = await fetch(`${gateway.url}/admin/v1/requests/failed`, { headers: { cookie } });
    return found.ok ? ((await found.json()) as { request: object }) : undefined;
  });
  expect(record.request).toMatchObject({ source: "playground/admin" });
  const job = { model: "sandbox-a", prompt: "A lighthouse" };
  expect((await send("/api/jobs", job, { ...own, "x-request-id": "submitted" })).ok).toBe(true);
  expect(await gateway.charged("submitted")).toMatchObject([{ source: "playground/admin" }]);
  const headers = { authorization: `Bearer ${gateway.key}`, "x-request-id": "by-key" };
  expect((await send("/v1/chat/completions", BODY, headers)).status).toBe(200);
  expect(await gateway.charged("by-key")).toMatchObject([{ source: null }]);
});

test("each session's use of a key leaves one audit row, before anything is called", async () => {
  const uses = async () => {
    const response = await fetch(`${gateway.url}/admin/v1/audit?kind=key&action=use`, {
      headers: { cookie },
    });
    return ((await response.json()) as { data: Record<string, unknown>[] }).data;
  };
  const other = JSON.parse(await gateway.cli("keys", "create", "--name", "audited", "--json")).key.id;
  const before = (await uses()).length;
  await Promise.all(Array.from({ length: 4 }, () => chat({ cookie, [HEADER]: other })));
  await chat({ cookie, [HEADER]: other, authorization: "Bearer gk_wrong" });
  const session = await signIn("admin", "a-password-for-tests");
  await chat({ cookie: session, [HEADER]: other });
  const rows = await uses();
  expect(rows.length - before).toBe(2);
  expect(rows[0]).toMatchObject({
    actor: "admin",
    subject: other,
    source: "http/127.0.0.1",
  });
  expect(new Set(rows.map(({ after }) => (after as { session: string }).session)).size).toBe(2);
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
  /** Creates a member and signs in. The password is given, because a generated password must be changed first. */
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
