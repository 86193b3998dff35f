import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newSecret } from "../../src/lib/secret.ts";
import { CHAT, IMAGE, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";
import { startTestGateway, until, type CallInit } from "../support/gateway.ts";

/* The keys that each route family accepts, and its refusals of other keys. */
const CHAT_PATH = "/v1/chat/completions";
const IMAGE_PATH = "/v1/images/generations";
const BODIES: Record<string, object> = {
  [CHAT_PATH]: { model: CHAT, messages: [{ role: "user", content: "hi" }] },
  [IMAGE_PATH]: { model: IMAGE, prompt: "hi" },
};
const UNUSABLE = "authentication_required";

let fixture: GatewayFixture;
const keys: Record<string, string> = {};
beforeAll(async () => {
  fixture = await openGatewayFixture();
  // A key cannot be created expired. So this key expires while other keys are created.
  keys["expired"] = await makeKey("expired", ["--expires", new Date(Date.now() + 2_500).toISOString()]);
  const expiresAt = Date.now() + 2_500;
  const made = await Promise.all(
    Object.entries(KEYS).map(async ([name, args]) => [name, await makeKey(name, args)]),
  );
  Object.assign(keys, Object.fromEntries(made));
  await fixture.gateway.cli("keys", "disable", keys["disabled-id"]!);
  await until("the disabled key to be refused", async () => {
    const response = await call(
      IMAGE_PATH,
      { authorization: `Bearer ${keys["disabled"]}` },
      { method: "GET" },
    );
    const models = await call(
      "/v1/models",
      { authorization: `Bearer ${keys["disabled"]}` },
      { method: "GET" },
    );
    return response.status === 405 && models.status === 401 && Date.now() > expiresAt ? true : undefined;
  });
}, 30_000);
afterAll(() => fixture[Symbol.asyncDispose]());

const KEYS: Record<string, string[]> = {
  disabled: [],
  images: ["--scope", "ai:image"],
  text: ["--scope", "ai:llm"],
  elsewhere: ["--address", "10.0.0.0/8"],
  here: ["--address", "127.0.0.1"],
  narrow: ["--model", "sandbox-chat"],
};

async function makeKey(name: string, args: string[]): Promise<string> {
  const { secret, key } = JSON.parse(
    await fixture.gateway.cli("keys", "create", "--name", name, ...args, "--json"),
  );
  keys[`${name}-id`] = key.id;
  return secret;
}

function call(path: string, headers: Record<string, string>, init: CallInit = {}): Promise<Response> {
  const { method = "POST" } = init;
  return fetch(`${fixture.gateway.url}${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(method === "POST" && { body: JSON.stringify(BODIES[path.split("?")[0]!]) }),
  });
}

/** Returns the exact body of a refusal in the route's family. */
function refusal(path: string, status: number, code: string, requestId: string): object {
  const message = expect.any(String);
  const isAccess = code === "missing_api_key" || code === "ip_not_allowed";
  if (path !== CHAT_PATH) return { error: { message, type: code, param: null, code, request_id: requestId } };
  if (isAccess) return { error: { message, type: code, param: null } };
  return {
    error: { message, type: status === 403 ? "permission_error" : "authentication_error", param: null, code },
  };
}

async function expectRefusal(response: Response, path: string, status: number, code: string): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toStartWith("application/json");
  const id = response.headers.get("x-gateway-request-id")!;
  expect(id).toMatch(/^[\w.:-]{1,128}$/);
  expect(response.headers.get("x-request-id")).toBe(id);
  expect(response.headers.has("retry-after")).toBe(false);
  expect(await response.json()).toEqual(refusal(path, status, code, id));
}

describe.each([CHAT_PATH, IMAGE_PATH])("%s", (path) => {
  test.each<[string, Record<string, string>]>([
    ["no header", {}],
    ["an empty header", { authorization: "" }],
    ["a scheme without a token", { authorization: "Bearer" }],
    ["a scheme and spaces", { authorization: "Bearer   " }],
    ["the header of another protocol", { "x-api-key": newSecret() }],
    ["a cookie", { cookie: `key=${newSecret()}` }],
  ])("%s is a missing key", async (_, headers) => {
    await expectRefusal(await call(path, headers), path, 401, "missing_api_key");
  });

  test("a key in the query is a missing key", async () => {
    const response = await call(`${path}?api_key=${fixture.gateway.key}&key=${fixture.gateway.key}`, {});
    await expectRefusal(response, path, 401, "missing_api_key");
  });

  test.each<[string, string]>([
    ["another scheme", "Basic dXNlcjpwYXNz"],
    ["a key without scheme", newSecret().slice(3)],
    ["another prefix", "Bearer sk-0123456789012345678901234567890123456789"],
    ["a checksum that is wrong", "Bearer gk_00000000000000000000000000000000AAAAAA"],
    ["a well-formed key that nobody has", `Bearer ${newSecret()}`],
    ["a key in capitals", `Bearer ${newSecret().toUpperCase()}`],
    ["SQL", "Bearer ' OR '1'='1"],
    ["SQL behind the prefix", "Bearer gk_' UNION SELECT hash FROM api_keys--"],
    ["8 KB", `Bearer gk_${"a".repeat(8192)}`],
    ["letters beyond ASCII", "Bearer gk_\u00e4\u00f6\u00fc"],
    ["two tokens", `Bearer ${newSecret()} ${newSecret()}`],
    ["the object's prototype", "Bearer __proto__"],
  ])("%s is an unusable key", async (_, authorization) => {
    await expectRefusal(await call(path, { authorization }), path, 401, UNUSABLE);
  });

  test.each(["disabled", "expired"])("a key that is %s is unusable", async (name) => {
    await expectRefusal(await call(path, { authorization: `Bearer ${keys[name]}` }), path, 401, UNUSABLE);
  });

  test("Authorization wins over a good key in another header", async () => {
    const headers = { authorization: `Bearer ${newSecret()}`, "x-api-key": fixture.gateway.key };
    await expectRefusal(await call(path, headers), path, 401, UNUSABLE);
  });

  test("a key from another network is refused as a blocked address", async () => {
    const response = await call(path, { authorization: `Bearer ${keys["elsewhere"]}` });
    await expectRefusal(response, path, 403, "ip_not_allowed");
  });

  test("X-Forwarded-For of an untrusted peer is ignored", async () => {
    const authorization = `Bearer ${keys["elsewhere"]}`;
    for (const name of ["x-forwarded-for", "x-real-ip", "forwarded", "cf-connecting-ip", "true-client-ip"]) {
      await expectRefusal(
        await call(path, { authorization, [name]: "10.1.2.3" }),
        path,
        403,
        "ip_not_allowed",
      );
    }
  });

  test("a key without the route's scope is refused with the scope's name", async () => {
    const name = path === CHAT_PATH ? "images" : "text";
    const response = await call(path, { authorization: `Bearer ${keys[name]}` });
    expect(await response.clone().text()).toContain(path === CHAT_PATH ? "ai:llm" : "ai:image");
    await expectRefusal(response, path, 401, UNUSABLE);
  });

  test("a key for another model is refused by key, with the field to change", async () => {
    const response = await call(path, { authorization: `Bearer ${keys["narrow"]}` });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      error: { code: "model_not_allowed_for_api_key", param: "model" },
    });
  });

  test("the scheme's case, spaces around the token and a fitting address list do not matter", async () => {
    for (const scheme of ["bearer", "BEARER", "Bearer  "]) {
      const response = await call(path, { authorization: `${scheme} ${keys["here"]}` });
      expect(response.status).toBe(200);
    }
  });
});

test("no refused request reached the vendor or the ledger", async () => {
  const admitted = 6;
  expect(fixture.vendor.hits).toHaveLength(admitted);
  const rows = await until("the admitted to be charged", async () => {
    const found = await fixture.gateway.ledger();
    return found.length >= admitted ? found : undefined;
  });
  expect(rows).toHaveLength(admitted);
  expect(new Set(rows.map(({ key_id }) => key_id))).toEqual(new Set([keys["here-id"]!]));
});

test("behind a trusted proxy the client is the rightmost address that is no proxy", async () => {
  await using gateway = await startTestGateway({ env: { TRUSTED_PROXIES: "127.0.0.1,10.9.0.0/16" } });
  const { secret: bound } = JSON.parse(
    await gateway.cli("keys", "create", "--name", "bound", "--address", "192.0.2.7", "--json"),
  );
  const send = async (forwarded: string) => {
    const headers = { authorization: `Bearer ${bound}`, "x-forwarded-for": forwarded };
    return (await fetch(`${gateway.url}/v1/models`, { headers })).status;
  };
  expect(await send("192.0.2.7")).toBe(200);
  expect(await send("::ffff:192.0.2.7")).toBe(200);
  expect(await send("198.51.100.1, 192.0.2.7, 10.9.1.1")).toBe(200);
  expect(await send("192.0.2.7:5555, 10.9.1.1:443")).toBe(200);
  expect(await send("[::ffff:192.0.2.7]:5555")).toBe(200);
  expect(await send("192.0.2.7, 198.51.100.1")).toBe(403);
  expect(await send("192.0.2.7:5555, 198.51.100.1:80")).toBe(403);
  expect(await send("192.0.2.7, 198.51.100.1, 10.9.1.1")).toBe(403);
  expect(await send("garbage, 10.9.1.1")).toBe(403);
  expect(await send("")).toBe(403);
});

test("rate and budget refusals say whether to retry", async () => {
  await using gateway = await startTestGateway({
    env: { GATEWAY_DEFAULT_LIMITS: "" },
    yaml: "limits: { default: { requests_per_minute: 3 } }\n",
  });
  const body = { model: "sandbox-chat", messages: [{ role: "user", content: "hi" }] };
  const first = await gateway.call(CHAT_PATH, { body });
  expect(first.status).toBe(200);
  expect(first.headers.get("x-ratelimit-limit-requests")).toBe("3");
  expect(first.headers.get("x-ratelimit-remaining-requests")).toBe("2");
  expect(first.headers.get("x-ratelimit-reset-requests")).toBeTruthy();
  expect(first.headers.get("x-ratelimit-limit-tokens")).toBe("1000000");
  // A refused request counts too. Its response reports the remaining limit.
  const refused = await gateway.call(CHAT_PATH, { body: { ...body, model: "nobody" } });
  expect([refused.status, refused.headers.get("x-ratelimit-remaining-requests")]).toEqual([400, "1"]);
  const unread = await gateway.call("/v1/messages", { body: "{" });
  expect([unread.status, unread.headers.get("anthropic-ratelimit-requests-remaining")]).toEqual([400, "0"]);
  const limited = await gateway.call(CHAT_PATH, { body });
  expect(limited.status).toBe(429);
  expect(await limited.json()).toMatchObject({
    error: { code: "rate_limit_exceeded", type: "rate_limit_exceeded" },
  });
  expect(limited.headers.get("retry-after")).toMatch(/^([1-9]|[1-5]\d|60)$/);
  expect(limited.headers.get("x-ratelimit-remaining-requests")).toBe("0");
  expect(limited.headers.has("x-should-retry")).toBe(false);
}, 20_000);

test("an exhausted budget is refused with x-should-retry: false", async () => {
  await using gateway = await startTestGateway();
  await gateway.cli("budgets", "create", "--amount", "0.000001", "--period", "month");
  const body = { model: "sandbox-chat", messages: [{ role: "user", content: "hi" }] };
  const blocked = await until("the budget to be seen", async () => {
    const response = await gateway.call(CHAT_PATH, { body });
    return response.status === 200 ? undefined : response;
  });
  expect(blocked.status).toBe(429);
  expect(blocked.headers.has("retry-after")).toBe(false);
  expect(blocked.headers.get("x-should-retry")).toBe("false");
  expect(await blocked.json()).toMatchObject({ error: { code: "BILLING_BLOCKED" } });
}, 20_000);

test("a model without a price is 402 without a vendor call", async () => {
  const yaml = `
channels: { nowhere: { provider: openai, base_url: "http://127.0.0.1:9/v1", credential: { env: NO_KEY } } }
models:
  free-chat: { type: chat, max_output_tokens: 100, route: { targets: [{ channel: nowhere }] } }
`;
  await using gateway = await startTestGateway({ yaml, env: { NO_KEY: "x" } });
  const body = { model: "free-chat", messages: [{ role: "user", content: "hi" }] };
  const response = await gateway.call(CHAT_PATH, { body });
  expect(response.status).toBe(402);
  expect(await response.json()).toMatchObject({ error: { code: "MODEL_PRICE_NOT_CONFIGURED" } });
});

test("forged keys are looked up a bounded number of times a minute per address, known keys are never refused", async () => {
  await using gateway = await startTestGateway({
    yaml: "server: { unknown_keys_per_minute: 20 }",
    env: { TRUSTED_PROXIES: "127.0.0.1" },
  });
  const send = (key: string, address: string) =>
    gateway.call("/v1/models", { headers: { authorization: `Bearer ${key}`, "x-forwarded-for": address } });
  const other = JSON.parse(await gateway.cli("keys", "create", "--name", "other", "--json"));
  const { secret } = JSON.parse(await gateway.cli("keys", "create", "--name", "late", "--json"));
  expect((await send(gateway.key, "203.0.113.9")).status).toBe(200);
  expect((await send(other.secret, "203.0.113.9")).status).toBe(200);
  await gateway.cli("keys", "disable", other.key.id);
  // Each change of keys makes the gateway look unknown keys up again. Therefore the test waits for the last change.
  await until("the last change of keys", async () =>
    (await send(other.secret, "203.0.113.9")).status === 401 ? true : undefined,
  );
  const repeated = newSecret();
  for (let index = 0; index < 30; index++) expect((await send(repeated, "203.0.113.7")).status).toBe(401);
  const forged = await Promise.all(Array.from({ length: 40 }, () => send(newSecret(), "203.0.113.7")));
  expect(forged.filter(({ status }) => status === 401).length).toBe(19);
  const refused = forged.find(({ status }) => status === 429)!;
  expect(await refused.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
  const seconds = Number(refused.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  // The status 429 for an existing key shows that the key was not looked up.
  expect((await send(secret, "203.0.113.7")).status).toBe(429);
  expect((await send(gateway.key, "203.0.113.7")).status).toBe(200);
  expect((await send(secret, "203.0.113.8")).status).toBe(200);
  expect((await send(secret, "203.0.113.7")).status).toBe(200);
}, 30_000);
