import { beforeEach, expect, test } from "bun:test";
import type { MemberRecord } from "../../src/admin/members/schema.ts";
import type { MemberStore } from "../../src/admin/members/store-port.ts";
import type { AdminStore } from "../../src/admin/admin-store.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { storesOn } from "../../src/storage/tables/stores.ts";
import { BY, onEachDatabase } from "./storage-harness.ts";

/* The database's records of members. A second handle simulates another process. */
onEachDatabase("The stores of members", (databases) => {
  let database: Database;
  let store: AdminStore;
  let other: AdminStore;

  beforeEach(async () => {
    const location = await databases.location();
    database = await databases.open(location);
    await migrate(database);
    store = storesOn(database).admin;
    other = storesOn(await databases.open(location)).admin;
  });

  const aMember = (id: string, fields: Partial<MemberRecord> = {}): Omit<MemberRecord, "version"> => ({
    id,
    name: `name of ${id}`,
    email: null,
    role: "owner",
    organizations: "*",
    isDisabled: false,
    passwordHash: "a-hash",
    mustChangePassword: false,
    totp: null,
    identity: null,
    lastSeenAt: null,
    createdAt: 1,
    ...fields,
  });
  const aSession = (id: string, memberId: string, at = 1_000) => ({
    id,
    hash: `hash of ${id}`,
    memberId,
    createdAt: at,
    seenAt: at,
    address: "192.0.2.1",
    agent: "a browser",
  });
  const aToken = (id: string, memberId: string) => ({
    id,
    hash: `hash of ${id}`,
    prefix: "ga_abcde",
    name: id,
    memberId,
    role: "viewer" as const,
    organizations: ["acme"],
    expiresAt: 9_000,
    lastUsedAt: null,
    createdAt: 1,
  });
  const update = (id: string, fields: ReturnType<Parameters<MemberStore["update"]>[1]>, in_ = store) =>
    in_.members.update(id, () => fields, { by: BY, action: "update" });

  test("a member is read as it was written", async () => {
    const totp = { secret: { sealed: "ABC" }, isConfirmed: true, lastStep: 7, recoveryHashes: ["x", "y"] };
    const member = aMember("user_a", {
      email: "a@acme.example",
      role: "billing",
      organizations: ["acme", "other"],
      passwordHash: null,
      mustChangePassword: true,
      totp,
      identity: '["issuer","subject"]',
      lastSeenAt: 5,
    });
    expect(await store.members.create(member, BY)).toBe(true);
    const expected = { ...member, version: expect.any(Number) };
    expect(await store.members.get("user_a")).toEqual(expected);
    for (const by of [{ name: member.name }, { email: member.email! }, { identity: member.identity! }])
      expect(await other.members.find(by)).toEqual(expected);
    expect(await store.members.find({ name: "nobody" })).toBeNull();
    expect(await store.members.list()).toEqual([expected]);
  });

  test("a name, an address and an identity belong to one member", async () => {
    const first = aMember("user_a", { name: "ada", email: "a@acme.example", identity: "i" });
    await store.members.create(first, BY);
    for (const same of [{ name: "ada" }, { email: "a@acme.example" }, { identity: "i" }])
      expect(await store.members.create(aMember("user_b", same), BY)).toBe(false);
    expect(await store.members.list()).toHaveLength(1);
  });

  test("of two owners who demote each other at the same time one stays", async () => {
    for (const id of ["user_a", "user_b"]) await store.members.create(aMember(id), BY);
    await store.members.create(aMember("user_c", { isDisabled: true }), BY);
    await store.members.create(aMember("user_d", { organizations: ["acme"] }), BY);
    const demote = (in_: AdminStore, id: string) =>
      in_.members.update(
        id,
        (_, { otherOwners }) => {
          if (otherOwners === 0) throw new Error("the last owner");
          return { role: "viewer" };
        },
        { by: BY, action: "update" },
      );
    const ends = await Promise.allSettled([demote(store, "user_a"), demote(other, "user_b")]);
    expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("changed rights and passwords end sessions in the same transaction; nothing else does", async () => {
    await store.members.create(aMember("user_a"), BY);
    const isOpen = async () => (await other.sessions.get("hash of s")) !== null;
    const ends: Parameters<typeof update>[1][] = [
      { role: "admin" },
      { organizations: ["acme"] },
      { isDisabled: true },
      { passwordHash: "another" },
    ];
    for (const fields of ends) {
      await store.sessions.create(aSession("s", "user_a"));
      await update("user_a", { email: "new@acme.example", totp: null, identity: "i" });
      expect(await isOpen()).toBe(true);
      await update("user_a", fields);
      expect([fields, await isOpen()]).toEqual([fields, false]);
    }
  });

  test("a change that throws changes nothing, and signing in makes no new version", async () => {
    await store.members.create(aMember("user_a"), BY);
    const before = await store.members.get("user_a");
    const failing = store.members.update("user_a", () => fail(), { by: BY, action: "update" });
    await expect(failing).rejects.toThrow("refused");
    const totp = { secret: { sealed: "ABC" }, isConfirmed: false, lastStep: 0, recoveryHashes: [] };
    await store.members.update("user_a", () => ({ totp }), { by: BY, action: "sign in" });
    expect(await store.members.get("user_a")).toEqual({ ...before!, totp });
    let last = before!.version;
    for (const fields of [{ role: "viewer" as const }, { passwordHash: "another" }, { isDisabled: true }]) {
      const { version } = (await update("user_a", fields))!;
      expect(version).toBeGreaterThan(last);
      last = version;
    }
  });

  test("a removed member leaves no session and no token", async () => {
    for (const id of ["user_a", "user_b"]) {
      await store.members.create(aMember(id), BY);
      await store.sessions.create(aSession(`s of ${id}`, id));
      await store.adminTokens.create(aToken(`t of ${id}`, id), BY);
    }
    await expect(store.members.remove("user_a", () => fail(), BY)).rejects.toThrow("refused");
    expect(await other.adminTokens.find("hash of t of user_a")).not.toBeNull();
    expect(await store.members.remove("user_a", () => {}, BY)).toBe(true);
    expect(await other.sessions.get("hash of s of user_a")).toBeNull();
    expect(await other.adminTokens.find("hash of t of user_a")).toBeNull();
    expect(await other.sessions.get("hash of s of user_b")).not.toBeNull();
    expect((await other.adminTokens.list()).map(({ id }) => id)).toEqual(["t of user_b"]);
  });

  test("sessions are listed newest first, touched, ended one by one or together, and swept", async () => {
    await store.members.create(aMember("user_a"), BY);
    for (const [id, at] of [
      ["old", 1_000],
      ["idle", 5_000],
      ["open", 6_000],
    ] as const)
      await store.sessions.create(aSession(id, "user_a", at));
    await store.sessions.touch({ id: "old", memberId: "user_a" }, 8_000);
    await store.sessions.touch({ id: "open", memberId: "user_a" }, 8_000);
    expect((await store.members.get("user_a"))!.lastSeenAt).toBe(8_000);
    await store.sessions.sweep({ seenBefore: 7_000, createdBefore: 2_000 });
    expect((await store.sessions.list("user_a")).map(({ id }) => id)).toEqual(["open"]);
    expect(await store.sessions.get("hash of open")).toMatchObject({
      session: { ...aSession("open", "user_a", 6_000), seenAt: 8_000 },
      member: { id: "user_a" },
    });
    expect(await store.sessions.remove("user_b", "open")).toBe(false);
    expect(await store.sessions.remove("user_a", "open")).toBe(true);
    await store.sessions.create(aSession("one", "user_a"));
    await store.sessions.create(aSession("two", "user_a"));
    expect(await store.sessions.removeAll("user_a")).toBe(2);
  });

  test("a token is read as it was written, and found with its member", async () => {
    await store.members.create(aMember("user_a"), BY);
    const token = aToken("token_a", "user_a");
    await store.adminTokens.create(token, BY);
    await store.adminTokens.touch("token_a", 7_000);
    const expected = { ...token, lastUsedAt: 7_000 };
    expect(await other.adminTokens.get("token_a")).toEqual(expected);
    expect(await other.adminTokens.find(token.hash)).toMatchObject({
      token: expected,
      member: { id: "user_a" },
    });
    expect(await other.adminTokens.list("user_b")).toEqual([]);
    expect(await other.adminTokens.remove("token_a", BY)).toBe(true);
    expect(await other.adminTokens.remove("token_a", BY)).toBe(false);
  });

  test("sign-ins of two processes are counted together, each once, in windows", async () => {
    const counted = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 ? store : other).signInAttempts.count("a", 1_000, 500),
      ),
    );
    expect(counted.map(({ count }) => count).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
    expect(new Set(counted.map(({ endsAt }) => endsAt))).toEqual(new Set([1_500]));
    const { signInAttempts } = store;
    await signInAttempts.forgive("a");
    expect((await signInAttempts.count("a", 1_499, 500)).count).toBe(12);
    expect(await signInAttempts.count("a", 1_500, 500)).toEqual({ count: 1, endsAt: 2_000 });
    await signInAttempts.reset("a");
    expect((await signInAttempts.count("a", 1_600, 500)).count).toBe(1);
    await signInAttempts.sweep(3_000);
    await signInAttempts.forgive("a");
    expect((await signInAttempts.count("a", 1_700, 500)).count).toBe(1);
  });

  test("the audit has who did what, and no secret", async () => {
    const totp = {
      secret: { sealed: "TOTPSECRET" },
      isConfirmed: true,
      lastStep: 0,
      recoveryHashes: ["recovery-hash"],
    };
    await store.members.create(aMember("user_a", { totp }), BY);
    await update("user_a", { passwordHash: "another-hash" });
    await store.members.note("user_a", { by: BY, action: "sign out", detail: { sessions: 2 } });
    await store.adminTokens.create(aToken("token_a", "user_a"), BY);
    const rows = await store.audit.list({ limit: 10 });
    expect(rows.map(({ kind, action }) => `${kind}: ${action}`)).toEqual([
      "admin token: create",
      "member: sign out",
      "member: update",
      "member: create",
    ]);
    const text = JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value));
    for (const secret of ["a-hash", "another-hash", "TOTPSECRET", "recovery-hash", "hash of token_a"])
      expect(text).not.toContain(secret);
  });
});

function fail(): never {
  throw new Error("refused");
}
