import { expect, test } from "bun:test";
import { adminContext } from "../../test/support/admin-context.ts";
import { hashSecret, isWellFormedSecret } from "../lib/secret.ts";
import { bootstrap } from "./bootstrap.ts";

const NOTHING = { key: null, administratorPassword: null };
const FIXED = { key: "gk_fixed-by-the-operator_1", administratorPassword: "open sesame!" };

test("the first start makes an organization, an administrator and a key, and shows their secrets once", async () => {
  const context = await adminContext();
  const first = await bootstrap(context, NOTHING);
  expect(first.organizationId).toBe("default");
  expect(first.administrator).toEqual({ name: "admin", password: expect.stringMatching(/^\w{20}$/) });
  expect(isWellFormedSecret(first.key.secret!)).toBe(true);
  const key = await context.store.keys.findByHash(hashSecret(first.key.secret!));
  expect(key).toMatchObject({
    organizationId: "default",
    scopes: ["ai:*"],
    models: "*",
    prefix: first.key.prefix!,
  });
  const administrator = await context.store.members.find({ name: "admin" });
  expect(administrator).toMatchObject({ role: "owner", organizations: "*", isDisabled: false });
  expect(administrator?.passwordHash).toStartWith("$argon2id$");
  expect(await Bun.password.verify(first.administrator.password!, administrator!.passwordHash!)).toBe(true);
});

test("a later start changes nothing and shows no secret", async () => {
  const context = await adminContext();
  const first = await bootstrap(context, NOTHING);
  const count = context.store.changes.length;
  expect(await bootstrap(context, NOTHING)).toEqual({
    organizationId: "default",
    administrator: { name: "admin", password: null },
    key: { secret: null, prefix: first.key.prefix },
  });
  expect(context.store.changes).toHaveLength(count);
});

test("fixed secrets are used, never shown, and fixing them again changes nothing", async () => {
  const context = await adminContext();
  const shown = {
    organizationId: "default",
    administrator: { name: "admin", password: null },
    key: { secret: null, prefix: "gk_fixed" },
  };
  expect(await bootstrap(context, FIXED)).toEqual(shown);
  const count = context.store.changes.length;
  expect(await bootstrap(context, FIXED)).toEqual(shown);
  expect(context.store.changes).toHaveLength(count);
  expect(await context.store.keys.findByHash(hashSecret(FIXED.key))).toMatchObject({ scopes: ["ai:*"] });
});

test("a secret fixed anew on a later start is taken over", async () => {
  const context = await adminContext();
  await bootstrap(context, NOTHING);
  await bootstrap(context, FIXED);
  expect(await context.store.keys.findByHash(hashSecret(FIXED.key))).not.toBeNull();
  const administrator = await context.store.members.find({ name: "admin" });
  expect(await Bun.password.verify(FIXED.administratorPassword, administrator!.passwordHash!)).toBe(true);
});

test("the first administrator is not made again once another owner removed it", async () => {
  const context = await adminContext();
  await bootstrap(context, FIXED);
  const first = await context.store.members.find({ name: "admin" });
  await context.store.members.create({ ...first!, id: "user_other", name: "ada" }, context.by);
  await context.store.members.remove(first!.id, () => {}, context.by);
  await bootstrap(context, FIXED);
  expect((await context.store.members.list()).map(({ name }) => name)).toEqual(["ada"]);
});

test("two machines that start together with the same fixed secrets both succeed", async () => {
  const context = await adminContext();
  await Promise.all([bootstrap(context, FIXED), bootstrap(context, FIXED)]);
  expect(await context.store.keys.list()).toHaveLength(1);
  expect(await context.store.organizations.list()).toHaveLength(1);
});
