import { afterAll, beforeAll, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { cookieOf, isInDatabase, send, signIn, type Administrator } from "../support/administration.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { freePort } from "../support/free-port.ts";

/* Members, sessions, passwords and TOTP with two workers, which share only the database. */
let gateway: TestGateway;
let owner: Administrator;

beforeAll(async () => {
  gateway = await startTestGateway({ env: { WORKERS: "2", PORT: String(freePort()) } });
  await until("a worker", async () => (await gateway.call("/readyz").catch(() => null))?.ok || undefined);
  owner = await signIn(gateway);
}, 30_000);
afterAll(() => gateway[Symbol.asyncDispose]());

let made = 0;
const PASSWORD = "twelve or more characters";

/** Creates a member with the given fields and signs in as this member. */
async function newMember(fields: object = {}) {
  const name = `member-${++made}`;
  const input = { name, role: "viewer", organizations: "*", password: PASSWORD, ...fields };
  const { member } = await owner.act("POST", "/members", input);
  const credentials = { name, password: PASSWORD };
  return { id: member.id as string, name, credentials, as: await signIn(gateway, credentials) };
}

async function refusal(work: Promise<{ status: number; body: { error: { type: string } } }>) {
  const { status, body } = await work;
  return [status, body.error.type];
}

async function lastAudit(subject: string) {
  const { data } = await owner.act("GET", `/audit?subject=${subject}&limit=1`);
  return data[0];
}

test("the first administrator owns everything", async () => {
  expect(await owner.act("GET", "/session")).toMatchObject({
    name: "admin",
    role: "owner",
    organizations: "*",
    isTotpOn: false,
    mustChangePassword: false,
  });
});

test("a generated password is shown once and opens nothing until it is changed", async () => {
  const input = { name: "ada", role: "admin", organizations: "*" };
  const { member, password } = await owner.act("POST", "/members", input);
  expect(password).toMatch(/^\w{20}$/);
  expect(JSON.stringify([await owner.act("GET", "/members"), await lastAudit(member.id)])).not.toContain(
    password,
  );
  const ada = await signIn(gateway, { name: "ada", password });
  expect(await refusal(ada.send("GET", "/keys"))).toEqual([403, "password_change_required"]);
  await ada.act("POST", "/session/password", { current: password, next: PASSWORD });
  expect((await ada.send("GET", "/keys")).status).toBe(200);
  const expiresAt = Date.now() + 60_000;
  const token = { name: "build", role: "viewer", organizations: "*", expiresAt };
  const { secret } = await ada.act("POST", "/tokens", token);
  const byToken = () => send(gateway.url, "GET", "/keys", undefined, { authorization: `Bearer ${secret}` });
  expect((await byToken()).status).toBe(200);
  const again = await owner.act("POST", `/members/${member.id}/reset-password`, {});
  expect((await ada.send("GET", "/session")).status).toBe(401);
  expect((await byToken()).status).toBe(401);
  const reset = await signIn(gateway, { name: "ada", password: again.password });
  expect(await refusal(reset.send("GET", "/keys"))).toEqual([403, "password_change_required"]);
});

test("names and addresses are unique, and a lost update is refused", async () => {
  const { id, name } = await newMember({ email: "Grace@Acme.example" });
  const input = { name: "other", role: "viewer", organizations: "*" };
  const taken = await owner.send("POST", "/members", { ...input, name });
  expect([taken.status, taken.body.error.field]).toEqual([409, "name"]);
  const mail = await owner.send("POST", "/members", { ...input, email: "grace@acme.EXAMPLE" });
  expect([mail.status, mail.body.error.field]).toEqual([409, "email"]);
  const { version } = await owner.act("GET", `/members/${id}`);
  await owner.act("PATCH", `/members/${id}`, { email: null, version });
  expect(await refusal(owner.send("PATCH", `/members/${id}`, { role: "admin", version }))).toEqual([
    409,
    "conflict",
  ]);
});

test("members are listed page by page, oldest first", async () => {
  const { data: all } = await owner.act("GET", "/members");
  const first = await owner.act("GET", "/members?limit=1");
  expect([first.data, typeof first.next]).toEqual([all.slice(0, 1), "string"]);
  const rest = await owner.act("GET", `/members?limit=1000&cursor=${first.next}`);
  expect([rest.data, rest.next]).toEqual([all.slice(1), null]);
});

test("the last owner cannot be removed, disabled or demoted, however many try at once", async () => {
  const { id } = await owner.act("GET", "/session");
  for (const change of [{ isDisabled: true }, { role: "admin" }, { organizations: ["default"] }])
    expect(await refusal(owner.send("PATCH", `/members/${id}`, change))).toEqual([409, "conflict"]);
  expect(await refusal(owner.send("DELETE", `/members/${id}`))).toEqual([409, "conflict"]);
  // When two owners demote each other at the same time, one owner must remain.
  const second = await newMember({ role: "owner" });
  const replies = await Promise.all([
    owner.send("PATCH", `/members/${second.id}`, { role: "viewer" }),
    second.as.send("PATCH", `/members/${id}`, { role: "viewer" }),
  ]);
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  if (replies[1]!.status === 200) await second.as.act("PATCH", `/members/${id}`, { role: "owner" });
  owner = await signIn(gateway);
  await owner.act("PATCH", `/members/${second.id}`, { role: "viewer" });
});

test("a changed role, a disabled and a removed member end every session at once, in both workers", async () => {
  const { id, credentials, as } = await newMember({ role: "admin" });
  const elsewhere = await signIn(gateway, credentials);
  const statuses = async (...who: Administrator[]) => {
    const all = await Promise.all([...who, ...who, ...who].map((each) => each.send("GET", "/keys")));
    return [...new Set(all.map(({ status }) => status))];
  };
  expect(await statuses(as, elsewhere)).toEqual([200]);
  await owner.act("PATCH", `/members/${id}`, { role: "viewer" });
  expect(await statuses(as, elsewhere)).toEqual([401]);
  const next = await signIn(gateway, credentials);
  await owner.act("PATCH", `/members/${id}`, { isDisabled: true });
  expect(await statuses(next)).toEqual([401]);
  expect(await refusal(send(gateway.url, "POST", "/session", credentials))).toEqual([401, "not_signed_in"]);
  await owner.act("PATCH", `/members/${id}`, { isDisabled: false });
  const last = await signIn(gateway, credentials);
  await owner.act("DELETE", `/members/${id}`);
  expect(await statuses(last)).toEqual([401]);
});

test("the password is changed with the current one alone, and ends the other sessions", async () => {
  const { id, name, credentials, as } = await newMember();
  const elsewhere = await signIn(gateway, credentials);
  const next = "another long password";
  const wrong = await as.send("POST", "/session/password", { current: "a wrong password", next });
  expect([wrong.status, wrong.body.error.field]).toEqual([403, "current"]);
  const short = await as.send("POST", "/session/password", { current: PASSWORD, next: "eleven long" });
  expect([short.status, short.body.error.field]).toEqual([400, "next"]);
  const before = as.cookie;
  await as.act("POST", "/session/password", { current: PASSWORD, next });
  expect(as.cookie).not.toBe(before);
  expect((await as.send("GET", "/session")).status).toBe(200);
  expect((await as.send("GET", "/session", undefined, { cookie: before })).status).toBe(401);
  expect((await elsewhere.send("GET", "/session")).status).toBe(401);
  expect((await send(gateway.url, "POST", "/session", credentials)).status).toBe(401);
  await signIn(gateway, { name, password: next });
  const { data } = await owner.act("GET", `/audit?subject=${id}&limit=20`);
  expect(data.map(({ action }: { action: string }) => action)).toEqual([
    "sign in",
    "fail to sign in",
    "change password",
    "sign in",
    "sign in",
    "create",
  ]);
});

test("members list and end their own sessions, one or all, and no others", async () => {
  const { as, credentials } = await newMember();
  const [second, third] = [await signIn(gateway, credentials), await signIn(gateway, credentials)];
  const { data } = await as.act("GET", "/sessions");
  expect(data.map(({ isThis }: { isThis: boolean }) => isThis)).toEqual([false, false, true]);
  const foreign = (await owner.act("GET", "/sessions")).data[0];
  expect((await as.send("DELETE", `/sessions/${foreign.id}`)).status).toBe(404);
  await as.act("DELETE", `/sessions/${data[0].id}`);
  expect((await third.send("GET", "/session")).status).toBe(401);
  const cookies = [as.cookie, second.cookie];
  const out = await as.send("DELETE", "/sessions");
  expect(out.headers.getSetCookie()[0]).toContain("Max-Age=0");
  for (const cookie of cookies)
    expect((await as.send("GET", "/session", undefined, { cookie })).status).toBe(401);
  expect((await owner.send("GET", "/session")).status).toBe(200);
});

test("signing out ends the session, not only the cookie", async () => {
  const { as } = await newMember();
  const { cookie } = as;
  await as.act("DELETE", "/session");
  expect((await as.send("GET", "/session", undefined, { cookie })).status).toBe(401);
});

test("TOTP: a code turns it on, each code is good once, and recovery codes once", async () => {
  const { id, credentials, as } = await newMember();
  const { secret, uri } = await as.act("POST", "/session/totp", {});
  expect(uri).toContain(`secret=${secret}`);
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const codeIn = (steps: number) => totp.generate({ timestamp: Date.now() + steps * 30_000 });
  await signIn(gateway, credentials);
  const wrong = await as.send("POST", "/session/totp/confirm", { code: codeIn(-20) });
  expect([wrong.status, wrong.body.error.field]).toEqual([400, "code"]);
  const confirming = codeIn(0);
  const { recoveryCodes } = await as.act("POST", "/session/totp/confirm", { code: confirming });
  expect(recoveryCodes).toHaveLength(10);
  const tried = (code?: string) =>
    send(gateway.url, "POST", "/session", { ...credentials, ...(code && { code }) });
  expect(await refusal(tried())).toEqual([401, "code_required"]);
  expect(await refusal(tried(confirming))).toEqual([401, "code_required"]);
  const next = codeIn(1);
  const both = await Promise.all([tried(next), tried(next)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 401]);
  const recovery = await Promise.all([1, 2].map(() => tried(recoveryCodes[0].toUpperCase())));
  expect(recovery.map(({ status }) => status).toSorted()).toEqual([200, 401]);
  expect(JSON.stringify(await owner.act("GET", `/audit?subject=${id}&limit=50`))).not.toContain(secret);
  expect(await isInDatabase(gateway, id)).toBe(true);
  expect(await isInDatabase(gateway, secret)).toBe(false);
  const session = await signIn(gateway, { ...credentials, code: recoveryCodes[1] });
  expect((await session.send("POST", "/session/totp/remove", { code: recoveryCodes[0] })).status).toBe(403);
  await session.act("POST", "/session/totp/remove", { code: recoveryCodes[2] });
  await signIn(gateway, credentials);
});

test("an owner turns TOTP off for a member who lost the authenticator", async () => {
  const { id, credentials, as } = await newMember();
  const { secret } = await as.act("POST", "/session/totp", {});
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await as.act("POST", "/session/totp/confirm", { code });
  expect(await refusal(send(gateway.url, "POST", "/session", credentials))).toEqual([401, "code_required"]);
  expect((await owner.act("PATCH", `/members/${id}`, { isTotpOn: false })).isTotpOn).toBe(false);
  await signIn(gateway, credentials);
});

test("a sign-in is audited with its address, a failed one without the password", async () => {
  const { id, name } = await newMember();
  await send(gateway.url, "POST", "/session", { name, password: "a wrong password" });
  const row = await lastAudit(id);
  expect(row).toMatchObject({ action: "fail to sign in", actor: name, source: "http/127.0.0.1" });
  expect(JSON.stringify(row)).not.toContain("a wrong password");
});

test("a session's cookie is new at each sign-in and of no use to scripts", async () => {
  const { credentials } = await newMember();
  const reply = await send(gateway.url, "POST", "/session", credentials);
  expect(reply.headers.getSetCookie()[0]).toMatch(
    /^gateway_session=\w{43}; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  // A new sign-in ends the browser's earlier session.
  const cookie = cookieOf(reply)!;
  await send(gateway.url, "POST", "/session", credentials, { cookie });
  expect((await send(gateway.url, "GET", "/session", undefined, { cookie })).status).toBe(401);
  // The gateway does not adopt a token that an attacker has chosen.
  const chosen = `gateway_session=${"a".repeat(43)}`;
  const fixed = await send(gateway.url, "POST", "/session", credentials, { cookie: chosen });
  expect(cookieOf(fixed)).not.toBe(chosen);
  expect((await send(gateway.url, "GET", "/session", undefined, { cookie: chosen })).status).toBe(401);
});

test("the command line lets in again whoever is locked out", async () => {
  const { id, name, credentials, as } = await newMember({ role: "owner" });
  const { secret } = await as.act("POST", "/session/totp", {});
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await as.act("POST", "/session/totp/confirm", { code });
  await gateway.cli("members", "set", id, "--no-totp");
  const printed = await gateway.cli("members", "reset-password", name);
  const password = /^ {2}(\w{20})$/m.exec(printed)![1]!;
  expect((await send(gateway.url, "POST", "/session", credentials)).status).toBe(401);
  const again = await signIn(gateway, { name, password });
  expect(await again.act("GET", "/session")).toMatchObject({ id, isTotpOn: false, mustChangePassword: true });
  expect(await gateway.cli("members", "set", id, "--role", "viewer", "--org", "default")).toContain(
    "is changed",
  );
  const made = JSON.parse(
    await gateway.cli("members", "create", "--name", "made", "--role", "admin", "--json"),
  );
  await signIn(gateway, { name: "made", password: made.password });
  expect(await gateway.cli("members", "sign-out", made.member.id)).toContain("1 session of ");
  expect(await gateway.cli("members", "list")).toMatch(/made +admin +all +off +enabled/);
  await gateway.cli("members", "remove", made.member.id);
  expect(await gateway.cli("members", "list")).not.toContain("made");
});
