import { afterAll, beforeAll, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { administrator, cookieOf, send, signIn, type Administrator } from "../support/administration.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { freePort } from "../support/free-port.ts";

/*
 * Attacks on administration: guessing, requests from other sites, planted cookies, and actions beyond the granted
 * rights. The gateway has two workers behind a trusted proxy, which reports the clients' addresses.
 */
let gateway: TestGateway;
let owner: Administrator;

const PASSWORD = "twelve or more characters";
const from = (address: string) => ({ "x-forwarded-for": address });

beforeAll(async () => {
  const env = { WORKERS: "2", PORT: String(freePort()), TRUSTED_PROXIES: "127.0.0.1" };
  gateway = await startTestGateway({ env });
  await until("a worker", async () => (await gateway.call("/readyz").catch(() => null))?.ok || undefined);
  owner = await signIn(gateway);
  await owner.act("POST", "/organizations", { id: "acme", name: "Acme" });
}, 30_000);
afterAll(() => gateway[Symbol.asyncDispose]());

async function newMember(name: string, fields: object = {}) {
  const input = { name, role: "viewer", organizations: "*", password: PASSWORD, ...fields };
  const { member } = await owner.act("POST", "/members", input);
  const credentials = { name, password: PASSWORD };
  return { id: member.id as string, credentials, as: await signIn(gateway, credentials) };
}

const guess = (name: string, address: string, password = "a wrong password") =>
  send(gateway.url, "POST", "/session", { name, password }, from(address));

/** Returns the number of responses by status. */
async function statuses(guesses: Promise<{ status: number }>[]): Promise<Record<number, number>> {
  const all = (await Promise.all(guesses)).map(({ status }) => status);
  return Object.fromEntries(
    [...Map.groupBy(all, (status) => status)].map(([key, list]) => [key, list.length]),
  );
}

test("an account takes ten guesses from wherever they come, at once and in both workers", async () => {
  const { as } = await newMember("guessed");
  const guesses = Array.from({ length: 16 }, (_, index) => guess("guessed", `203.0.113.${index}`));
  expect(await statuses(guesses)).toEqual({ 401: 10, 429: 6 });
  const right = await guess("guessed", "203.0.113.99", PASSWORD);
  expect([right.status, right.body.error.type]).toEqual([429, "too_many_requests"]);
  const seconds = Number(right.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(800);
  expect(seconds).toBeLessThanOrEqual(900);
  // Existing sessions continue, and other accounts are not locked.
  expect((await as.send("GET", "/session")).status).toBe(200);
  await newMember("not-guessed");
});

test("an unknown name is refused and throttled like a known one", async () => {
  const first = await guess("nobody-of-that-name", "203.0.113.101");
  await newMember("somebody");
  const known = await guess("somebody", "203.0.113.102");
  expect([first.status, first.body.error]).toEqual([known.status, known.body.error]);
  const more = Array.from({ length: 12 }, (_, index) =>
    guess("nobody-of-that-name", `203.0.113.${110 + index}`),
  );
  expect(await statuses(more)).toEqual({ 401: 9, 429: 3 });
});

test("an address takes thirty guesses, where a network of IPv6 is one address", async () => {
  const guesses = Array.from({ length: 33 }, (_, index) =>
    guess(`name-${index}`, `2001:db8:1:2::${index + 1}`),
  );
  expect(await statuses(guesses)).toEqual({ 401: 30, 429: 3 });
  expect((await guess("name-99", "2001:db8:1:3::1")).status).toBe(401);
});

test("a site of IPv6 takes a hundred guesses, from however many of its networks they come", async () => {
  const guesses = Array.from({ length: 104 }, (_, index) =>
    guess(`site-${index}`, `2001:db8:48:${index.toString(16)}::1`),
  );
  expect(await statuses(guesses)).toEqual({ 401: 100, 429: 4 });
  expect((await guess("site-104", "2001:db8:49::1")).status).toBe(401);
  const { credentials } = await newMember("other-site");
  for (let network = 0; network < 3; network += 1) {
    const reply = await send(gateway.url, "POST", "/session", credentials, from(`2001:db8:50:${network}::1`));
    expect(reply.status).toBe(200);
  }
}, 30_000);

test("a browser that has signed in before is not locked by guesses of strangers", async () => {
  const { credentials } = await newMember("locked");
  const first = await send(gateway.url, "POST", "/session", credentials, from("198.51.100.70"));
  const known = first.headers.getSetCookie().find((cookie) => cookie.startsWith("gateway_browser="))!;
  expect(known).toMatch(/^gateway_browser=[\w.]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=15552000$/);
  await statuses(Array.from({ length: 33 }, () => guess("locked", "198.51.100.70")));
  const again = (cookie: string) =>
    send(gateway.url, "POST", "/session", credentials, { ...from("198.51.100.70"), cookie });
  expect((await again("")).status).toBe(429);
  expect((await again(known.split(";")[0]!)).status).toBe(200);
});

test("right sign-ins count for nothing", async () => {
  const { credentials } = await newMember("busy");
  for (let round = 0; round < 12; round++) {
    const reply = await send(gateway.url, "POST", "/session", credentials, from("198.51.100.8"));
    expect(reply.status).toBe(200);
  }
});

test("codes of TOTP and the current password cannot be guessed either", async () => {
  const { credentials, as } = await newMember("coded");
  const { secret } = await as.act("POST", "/session/totp", {});
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await as.act("POST", "/session/totp/confirm", { code });
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, "0");
  const tries = Array.from({ length: 14 }, (_, index) =>
    send(gateway.url, "POST", "/session", { ...credentials, code: wrong }, from(`198.51.100.${20 + index}`)),
  );
  expect(await statuses(tries)).toEqual({ 401: 10, 429: 4 });
  const { as: other } = await newMember("stolen-session");
  const passwords = Array.from({ length: 14 }, (_, index) =>
    other.send(
      "POST",
      "/session/password",
      { current: `wrong-${index}`, next: PASSWORD },
      from("198.51.100.9"),
    ),
  );
  expect(await statuses(passwords)).toEqual({ 403: 10, 429: 4 });
});

test.each([
  ["another site", { "sec-fetch-site": "cross-site" }],
  ["another host of the same site", { "sec-fetch-site": "same-site" }],
  ["a link that somebody opened", { "sec-fetch-site": "none" }],
  ["another origin, in an older browser", { "sec-fetch-site": undefined, origin: "https://evil.example" }],
  ["no origin", { "sec-fetch-site": undefined, origin: "null" }],
  ["neither header", { "sec-fetch-site": undefined }],
  ["the right origin, but another site", { "sec-fetch-site": "cross-site", origin: "own" }],
])("a change from %s is refused", async (_, headers) => {
  const sent = Object.entries({ cookie: owner.cookie, ...headers }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value === "own" ? gateway.url : value] as const],
  );
  for (const [method, path] of [
    ["POST", "/organizations"],
    ["DELETE", "/session"],
  ] as const) {
    const response = await fetch(`${gateway.url}/admin/v1${path}`, {
      method,
      headers: { "content-type": "application/json", ...Object.fromEntries(sent) },
      ...(method === "POST" && { body: JSON.stringify({ id: "forged", name: "Forged" }) }),
    });
    expect(response.status).toBe(403);
  }
  expect((await owner.send("GET", "/session")).status).toBe(200);
});

test("an older browser's own origin is accepted", async () => {
  const { as } = await newMember("older-browser");
  const headers = { cookie: as.cookie, origin: gateway.url };
  const response = await fetch(`${gateway.url}/admin/v1/session`, { method: "DELETE", headers });
  expect(response.status).toBe(200);
});

test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", null])(
  "a body of type %p is refused, and so is a sign-in from another site",
  async (type) => {
    const headers: Record<string, string> = { cookie: owner.cookie, "sec-fetch-site": "same-origin" };
    if (type !== null) headers["content-type"] = type;
    const body = new Blob([JSON.stringify({ id: "forged", name: "Forged" })]);
    const response = await fetch(`${gateway.url}/admin/v1/organizations`, { method: "POST", headers, body });
    expect(response.status).toBe(415);
    const credentials = { name: "admin", password: "a-password-for-tests" };
    const foreign = { "sec-fetch-site": "cross-site" };
    expect((await send(gateway.url, "POST", "/session", credentials, foreign)).status).toBe(403);
  },
);

test("over https the cookie is bound to the host, and one without the prefix is not read", async () => {
  const https = { "x-forwarded-proto": "https", "x-forwarded-host": "console.example" };
  const credentials = { name: "admin", password: "a-password-for-tests" };
  const reply = await send(gateway.url, "POST", "/session", credentials, https);
  expect(reply.headers.getSetCookie()[0]).toMatch(
    /^__Host-gateway_session=\w{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  );
  const [, token] = cookieOf(reply)!.split("=");
  const read = async (cookie: string) =>
    (await send(gateway.url, "GET", "/session", undefined, { ...https, cookie })).status;
  expect(await read(`__Host-gateway_session=${token}`)).toBe(200);
  // A page over plain HTTP on the same host, or a page of a sibling host, could set this cookie.
  expect(await read(`gateway_session=${token}`)).toBe(401);
});

test("an admin token does what it was given, and no more", async () => {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const { as } = await newMember("maker", { role: "admin", organizations: ["acme"] });
  const input = { name: "build", role: "viewer", organizations: ["acme"], expiresAt };
  for (const more of [{ role: "owner" }, { organizations: "*" }, { organizations: ["acme", "default"] }])
    expect((await as.send("POST", "/tokens", { ...input, ...more })).status).toBeOneOf([403, 404]);
  for (const time of ["2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"])
    expect((await as.send("POST", "/tokens", { ...input, expiresAt: time })).status).toBe(400);
  const { as: viewer } = await newMember("viewing-maker");
  expect((await viewer.send("POST", "/tokens", { ...input, role: "billing" })).status).toBe(403);
  const { secret, token } = await as.act("POST", "/tokens", input);
  expect(secret).toMatch(/^ga_\w{38}$/);
  expect(JSON.stringify(await owner.act("GET", "/tokens"))).not.toContain(secret);
  const program = administrator(gateway, { authorization: `Bearer ${secret}` });
  // Another site's request is allowed too, because browsers do not add a token by themselves, unlike a cookie.
  const foreign = { "sec-fetch-site": "cross-site" };
  expect((await program.send("GET", "/organizations", undefined, foreign)).body.data).toHaveLength(1);
  expect((await program.send("POST", "/keys", { organizationId: "acme", name: "x" })).status).toBe(403);
  for (const [method, path, body] of [
    ["POST", "/tokens", input],
    ["POST", "/session/password", { current: PASSWORD, next: "another long password" }],
    ["POST", "/session/totp", {}],
    ["GET", "/sessions", undefined],
    ["DELETE", "/sessions", undefined],
  ] as const)
    expect([path, (await program.send(method, path, body)).status]).toEqual([path, 403]);
  expect((await gateway.call("/v1/models", { headers: { authorization: `Bearer ${secret}` } })).status).toBe(
    401,
  );
  const byKey = administrator(gateway, { authorization: `Bearer ${gateway.key}` });
  expect((await byKey.send("GET", "/keys")).status).toBe(401);
  // The header has priority over the cookie. Otherwise a session would hide that the token is invalid.
  const both = { cookie: owner.cookie, authorization: "Bearer ga_broken" };
  expect((await send(gateway.url, "GET", "/keys", undefined, both)).status).toBe(401);
  expect((await owner.act("GET", "/tokens")).data).toContainEqual(expect.objectContaining({ id: token.id }));
});

test("a token shrinks and ends with the member who made it", async () => {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const { id, as } = await newMember("shrinking", { role: "admin" });
  const input = { name: "build", role: "admin", organizations: "*", expiresAt };
  const { secret, token } = await as.act("POST", "/tokens", input);
  const program = administrator(gateway, { authorization: `Bearer ${secret}` });
  const create = (organizationId: string) => program.send("POST", "/keys", { organizationId, name: "made" });
  expect((await create("default")).status).toBe(200);
  await owner.act("PATCH", `/members/${id}`, { organizations: ["acme"] });
  expect([(await create("default")).status, (await create("acme")).status]).toEqual([404, 200]);
  await owner.act("PATCH", `/members/${id}`, { role: "viewer" });
  expect((await create("acme")).status).toBe(403);
  await owner.act("PATCH", `/members/${id}`, { isDisabled: true });
  expect((await program.send("GET", "/keys")).status).toBe(401);
  await owner.act("PATCH", `/members/${id}`, { isDisabled: false });
  expect((await program.send("GET", "/keys")).status).toBe(200);
  await owner.act("DELETE", `/tokens/${token.id}`);
  expect((await program.send("GET", "/keys")).status).toBe(401);
});

test("nobody gives more than they have", async () => {
  const { as, id } = await newMember("local-owner", { role: "owner", organizations: ["acme"] });
  const input = { name: "friend", role: "viewer", organizations: ["acme"] };
  for (const more of [
    { organizations: "*" },
    { organizations: ["default"] },
    { organizations: ["acme", "default"] },
  ])
    expect((await as.send("POST", "/members", { ...input, ...more })).status).toBeOneOf([403, 404]);
  const { member } = await as.act("POST", "/members", input);
  expect((await as.send("PATCH", `/members/${member.id}`, { organizations: "*" })).status).toBe(403);
  expect((await as.send("PATCH", `/members/${id}`, { organizations: "*" })).status).toBe(403);
  const first = await owner.act("GET", "/session");
  for (const [method, path, body] of [
    ["GET", `/members/${first.id}`, undefined],
    ["PATCH", `/members/${first.id}`, { isDisabled: true }],
    ["POST", `/members/${first.id}/reset-password`, {}],
    ["DELETE", `/members/${first.id}`, undefined],
  ] as const)
    expect([method, (await as.send(method, path, body)).status]).toEqual([method, 404]);
  const { data } = await as.act("GET", "/members");
  const names = data.map(({ name }: { name: string }) => name);
  expect(names).toContainValues(["local-owner", "friend"]);
  expect(names).not.toContain("admin");
});
