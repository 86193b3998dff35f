import { beforeEach, expect, test } from "bun:test";
import { adminContext, NOW, refusal } from "../../../test/support/admin-context.ts";
import { bootstrap } from "../bootstrap.ts";
import type { AdminContext } from "../context.ts";
import { readSession } from "./sessions.ts";
import { signIn } from "./sign-in.ts";
import type { TotpOpener } from "./totp.ts";

const MINUTE_MS = 60_000;
const RIGHT = { name: "admin", password: "a-password-for-tests" };
const ORIGIN = { address: "192.0.2.1", agent: "a browser" };

let context: AdminContext & TotpOpener;
let now: number;

beforeEach(async () => {
  const made = await adminContext();
  now = NOW;
  const configuration = { unseal: async () => null };
  context = { ...made, configuration, clock: { now: () => now, monotonic: () => 0 } };
  await bootstrap(context, { key: null, administratorPassword: RIGHT.password });
});

const pass = (minutes: number) => void (now += minutes * MINUTE_MS);
const isOpen = (token: string) =>
  readSession(context, token).then(
    () => true,
    () => false,
  );

test("a session ends after 30 minutes without a request", async () => {
  const { token } = await signIn(context, RIGHT, ORIGIN);
  pass(29);
  expect(await isOpen(token)).toBe(true);
  pass(29);
  expect(await isOpen(token)).toBe(true);
  pass(31);
  expect(await isOpen(token)).toBe(false);
});

test("a session that is used all the time ends after 12 hours", async () => {
  const { token } = await signIn(context, RIGHT, ORIGIN);
  for (let hour = 0; hour < 12; hour++) {
    for (let third = 0; third < 3; third++) {
      pass(20);
      if (hour < 11 || third < 2) expect(await isOpen(token)).toBe(true);
    }
  }
  pass(1);
  expect(await isOpen(token)).toBe(false);
});

test("what is stored of a session is of no use as its token", async () => {
  const { token, member } = await signIn(context, RIGHT, ORIGIN);
  const [session] = await context.store.sessions.list(member.id);
  expect(session!.hash).not.toBe(token);
  expect(await isOpen(session!.hash)).toBe(false);
  expect(await isOpen(session!.id)).toBe(false);
});

test("an account that was tried too often can sign in again when the window is over", async () => {
  const wrong = () => signIn(context, { ...RIGHT, password: "a wrong password" }, ORIGIN);
  for (let count = 0; count < 10; count++)
    expect(await refusal(wrong())).toEqual([401, null, "the name or the password is wrong"]);
  pass(14);
  expect(await refusal(signIn(context, RIGHT, ORIGIN))).toEqual([
    429,
    null,
    "too many sign-ins failed; try again in 60 seconds",
  ]);
  pass(1);
  await signIn(context, RIGHT, ORIGIN);
});

test("a right sign-in resets what was counted for the account", async () => {
  for (let round = 0; round < 2; round++) {
    for (let count = 0; count < 9; count++)
      await refusal(signIn(context, { ...RIGHT, password: "a wrong password" }, ORIGIN));
    await signIn(context, RIGHT, ORIGIN);
  }
});

test("strangers lock neither the account nor the address for a browser that has signed in before", async () => {
  const tryAs = (name: string, browser?: string, password = "a wrong password") =>
    signIn(context, { name, password }, ORIGIN, browser);
  const { browser } = await signIn(context, RIGHT, ORIGIN);
  for (let count = 0; count < 40; count++) await refusal(tryAs("admin"));
  expect((await refusal(signIn(context, RIGHT, ORIGIN)))[0]).toBe(429);
  const next = await signIn(context, RIGHT, ORIGIN, browser);
  await signIn(context, RIGHT, ORIGIN, next.browser);
  // A known browser also has only ten attempts. The value of `browser` belongs to one member and one password.
  for (let count = 0; count < 10; count++) expect((await refusal(tryAs("admin", browser)))[0]).toBe(401);
  expect((await refusal(signIn(context, RIGHT, ORIGIN, browser)))[0]).toBe(429);
  const forged = `${browser.slice(0, -1)}${browser.endsWith("0") ? "1" : "0"}`;
  for (const other of [forged, `${"a".repeat(22)}.${browser.slice(23)}`, "", "x.y"])
    expect((await refusal(signIn(context, RIGHT, ORIGIN, other)))[0]).toBe(429);
  expect((await refusal(tryAs("nobody", next.browser)))[0]).toBe(429);
  const { id } = (await context.store.members.find({ name: "admin" }))!;
  const passwordHash = await Bun.password.hash(RIGHT.password);
  await context.store.members.update(id, () => ({ passwordHash }), { by: context.by, action: "update" });
  expect((await refusal(signIn(context, RIGHT, ORIGIN, next.browser)))[0]).toBe(429);
});

test("a member without a password cannot sign in with any", async () => {
  const { id } = (await context.store.members.find({ name: "admin" }))!;
  const note = { by: context.by, action: "update" } as const;
  await context.store.members.update(id, () => ({ passwordHash: null }), note);
  for (const password of ["", "null", RIGHT.password])
    expect((await refusal(signIn(context, { name: "admin", password }, ORIGIN)))[0]).toBe(401);
});

test("a sign-in that overlaps with a reset of the password opens nothing", async () => {
  const { sessions, members } = context.store;
  const { id } = (await members.find({ name: "admin" }))!;
  const create = sessions.create;
  // The reset happens just before the new session is stored, so the reset does not end this session.
  sessions.create = async (session) => {
    await members.update(id, () => ({ passwordHash: "another" }), {
      by: context.by,
      action: "reset password",
    });
    await create(session);
  };
  expect((await refusal(signIn(context, RIGHT, ORIGIN)))[0]).toBe(401);
  expect(await sessions.list(id)).toEqual([]);
});
