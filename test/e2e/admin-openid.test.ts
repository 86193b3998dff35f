import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { administrator, signIn, type Administrator } from "../support/administration.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { startOpenIdProvider, type OpenIdProvider } from "../upstreams/openid-provider.ts";
import { freePort } from "../support/free-port.ts";

/* Sign-in by an OpenID provider with two workers. A browser may leave from one worker and return to the other. */
let provider: OpenIdProvider;
let gateway: TestGateway;
let owner: Administrator;

beforeAll(async () => {
  provider = startOpenIdProvider("/console/oidc/callback");
  gateway = await startTestGateway({
    env: { WORKERS: "2", PORT: String(freePort()), OIDC_SECRET: provider.clientSecret },
    yaml: `
console:
  oidc:
    issuer: ${provider.issuer}
    client_id: ${provider.clientId}
    client_secret: { env: OIDC_SECRET }
    label: Acme accounts
    role_claim: groups
    roles: { owner: [gateway-owners], admin: [gateway-admins] }
    default_organizations: "*"
    allowed_domains: [acme.example]
`,
  });
  await until("a worker", async () => (await gateway.call("/readyz").catch(() => null))?.ok || undefined);
  owner = await signIn(gateway);
}, 30_000);
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
beforeEach(() => {
  provider.refusals.length = 0;
});

/** A browser that stores cookies. Each call requests one address and follows no redirect. */
function browser() {
  const cookies = new Map<string, string>();
  return {
    cookies,
    async go(url: string): Promise<{ status: number; location: string }> {
      const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
      const headers: Record<string, string> = url.startsWith(gateway.url) ? { cookie } : {};
      const init = { redirect: "manual", keepalive: false, headers } as const;
      const response = await fetch(url, init);
      for (const set of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        if (value === "") cookies.delete(name);
        else cookies.set(name, value);
      }
      return { status: response.status, location: response.headers.get("location") ?? "" };
    },
    as: () => administrator(gateway, { cookie: `gateway_session=${cookies.get("gateway_session")}` }),
  };
}

/** Signs a user in. Returns the browser, the callback address and the last address. */
async function signInAs(user: OpenIdProvider["user"], from = browser(), query = "") {
  provider.user = user;
  const atProvider = await from.go(`${gateway.url}/console/oidc/start${query}`);
  const back = await from.go(atProvider.location);
  const end = await from.go(back.location);
  return { browser: from, callback: back.location, end: end.location };
}

const ADA = { sub: "1", email: "Ada@acme.example", email_verified: true };
const FAILED = "/console/sign-in?problem=oidc_failed";
const REFUSED = "/console/sign-in?problem=oidc_refused";

test("the page learns that one can sign in at the provider", async () => {
  const reply = await administrator(gateway, {}).send("GET", "/sign-in");
  expect(reply.body).toEqual({ password: true, oidc: { label: "Acme accounts" } });
});

test("a holder of an allowed address becomes a member at the first sign-in, and is the same at the next", async () => {
  const first = await signInAs(ADA, browser(), "?next=/keys");
  expect(first.end).toBe("/console/keys");
  const ada = await first.browser.as().act("GET", "/session");
  expect(ada).toMatchObject({
    name: "ada@acme.example",
    role: "viewer",
    organizations: "*",
    hasPassword: false,
  });
  const second = await signInAs({ ...ADA, email: "ada.renamed@acme.example" });
  expect((await second.browser.as().act("GET", "/session")).id).toBe(ada.id);
  expect([...second.browser.cookies.keys()]).toEqual(["gateway_session"]);
});

test("the claim decides the role at each sign-in, and who had more before is signed out", async () => {
  const admin = await signInAs({ ...ADA, groups: ["staff", "gateway-admins"] });
  expect((await admin.browser.as().act("GET", "/session")).role).toBe("admin");
  const viewer = await signInAs({ ...ADA, groups: "staff" });
  expect((await viewer.browser.as().act("GET", "/session")).role).toBe("viewer");
  expect((await admin.browser.as().send("GET", "/session")).status).toBe(401);
  // These groups grant no roles, because other applications often use the same names.
  const named = await signInAs({ ...ADA, groups: ["owner", "admin", "billing"] });
  expect((await named.browser.as().act("GET", "/session")).role).toBe("viewer");
});

test("a member of old is found by a verified address, and by no other", async () => {
  const input = { name: "grace", email: "grace@elsewhere.example", role: "billing", organizations: "*" };
  const { member } = await owner.act("POST", "/members", { ...input, password: null });
  const grace = { sub: "2", email: "grace@elsewhere.example" };
  expect((await signInAs(grace)).end).toBe(REFUSED);
  expect((await signInAs({ ...grace, email_verified: "true" })).end).toBe(REFUSED);
  const found = await signInAs({ ...grace, email_verified: true });
  expect((await found.browser.as().act("GET", "/session")).id).toBe(member.id);
  // The provider has given the address to another person, whose id differs.
  expect((await signInAs({ ...grace, sub: "3", email_verified: true })).end).toBe(REFUSED);
});

test("a member who is found by an address keeps no password, session, token or code that was there before", async () => {
  await owner.act("POST", "/organizations", { id: "acme", name: "Acme" });
  const password = "chosen by somebody else";
  const created = { role: "owner", organizations: ["acme"], password };
  await owner.act("POST", "/members", { ...created, name: "tenant" });
  const tenant = await signIn(gateway, { name: "tenant", password });
  const email = "hedy@elsewhere.example";
  const { member } = await tenant.act("POST", "/members", { ...created, name: "hedy", email });
  const planted = await signIn(gateway, { name: "hedy", password });
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const token = { name: "kept", role: "owner", organizations: ["acme"], expiresAt };
  const { secret } = await planted.act("POST", "/tokens", token);
  const totp = await planted.act("POST", "/session/totp", {});
  const code = new TOTP({ secret: Secret.fromBase32(totp.secret) }).generate();
  await planted.act("POST", "/session/totp/confirm", { code });

  const hedy = await signInAs({ sub: "7", email, email_verified: true });
  expect((await hedy.browser.as().act("GET", "/session")).id).toBe(member.id);
  const linked = { hasIdentity: true, hasPassword: false, isTotpOn: false, mustChangePassword: false };
  expect(await owner.act("GET", `/members/${member.id}`)).toMatchObject(linked);
  const tokenHolder = administrator(gateway, { authorization: `Bearer ${secret}` });
  const outsiders = [planted.send("GET", "/keys"), tokenHolder.send("GET", "/keys")];
  const again = administrator(gateway, {}).send("POST", "/session", { name: "hedy", password });
  const replies = await Promise.all([...outsiders, again]);
  expect(replies.map(({ status }) => status)).toEqual([401, 401, 401]);

  // Only the installation may set a password, because the member would not notice a password of another person.
  const reset = `/members/${member.id}/reset-password`;
  expect((await tenant.send("POST", reset, {})).status).toBe(403);
  expect((await owner.send("POST", reset, {})).status).toBe(200);
});

test("the next sign-in at the provider leaves a password that was set since", async () => {
  const user = { sub: "8", email: "emmy@acme.example", email_verified: true };
  const { id } = await (await signInAs(user)).browser.as().act("GET", "/session");
  await owner.act("POST", `/members/${id}/reset-password`, {});
  await signInAs(user);
  expect((await owner.act("GET", `/members/${id}`)).hasPassword).toBe(true);
});

test.each([
  ["another domain", { sub: "9", email: "eve@acme.example.evil.example", email_verified: true }],
  ["a domain that only ends the same", { sub: "9", email: "eve@notacme.example", email_verified: true }],
  ["two addresses in one", { sub: "9", email: "eve@evil.example@acme.example", email_verified: true }],
  ["markup", { sub: "9", email: "<img src=x onerror=alert(1)>\n@acme.example", email_verified: true }],
  ["a line break", { sub: "9", email: "eve\n@acme.example", email_verified: true }],
  ["no address", { sub: "9" }],
])("%s is refused, and audited", async (_, user) => {
  const { end, browser: eve } = await signInAs(user);
  expect(end).toBe(REFUSED);
  expect(eve.cookies.has("gateway_session")).toBe(false);
  const { data } = await owner.act("GET", "/audit?kind=member&limit=1");
  expect(data[0]).toMatchObject({ action: "fail to sign in", actor: "unknown" });
});

test("a disabled member is refused", async () => {
  const user = { sub: "4", email: "joan@acme.example", email_verified: true };
  const joan = (await signInAs(user)).browser.as();
  const { id } = await joan.act("GET", "/session");
  await owner.act("PATCH", `/members/${id}`, { isDisabled: true });
  expect((await joan.send("GET", "/session")).status).toBe(401);
  expect((await signInAs(user)).end).toBe(REFUSED);
});

test.each(["nonce", "audience", "issuer", "signature", "expired", "unsigned"] as const)(
  "an id token with a wrong %s signs nobody in",
  async (fault) => {
    provider.fault = fault;
    const { end, browser: browsed } = await signInAs(ADA);
    expect(end).toBe(FAILED);
    expect(browsed.cookies.size).toBe(0);
  },
);

test("a callback is of use to the browser that began alone, and once", async () => {
  provider.user = ADA;
  const [victim, attacker] = [browser(), browser()];
  const start = await attacker.go(`${gateway.url}/console/oidc/start`);
  const { location } = await attacker.go(start.location);
  // A victim who follows the attacker's callback link would be signed in as the attacker.
  expect((await victim.go(location)).location).toBe(FAILED);
  await victim.go(`${gateway.url}/console/oidc/start`);
  expect((await victim.go(location)).location).toBe(FAILED);
  expect(provider.redeemed).not.toContain(new URL(location).searchParams.get("code")!);
  expect((await attacker.go(location)).location).toBe("/console/");
  expect((await attacker.go(location)).location).toBe(FAILED);
});

test("a code that was intercepted is useless without the verifier", async () => {
  provider.user = ADA;
  const [mine, other] = [browser(), browser()];
  const stolen = await other.go((await other.go(`${gateway.url}/console/oidc/start`)).location);
  const own = await mine.go((await mine.go(`${gateway.url}/console/oidc/start`)).location);
  const url = new URL(own.location);
  url.searchParams.set("code", new URL(stolen.location).searchParams.get("code")!);
  expect((await mine.go(url.href)).location).toBe(FAILED);
  expect(provider.refusals).toEqual(["code_verifier"]);
});

test.each(["//evil.example", "https://evil.example/", "/../../evil", "\\\\evil.example"])(
  "afterwards nobody is sent to another place: %s",
  async (next) => {
    const { end } = await signInAs(ADA, browser(), `?next=${encodeURIComponent(next)}`);
    expect(end).toMatch(/^\/console(\/|$)/);
    expect(new URL(end, gateway.url).origin).toBe(gateway.url);
  },
);
