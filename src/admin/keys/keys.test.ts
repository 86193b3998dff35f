import { expect, test } from "bun:test";
import { createKey, listKeys, rotateKey, updateKey } from "../../../test/support/admin-calls.ts";
import { NOW, refusal, withOrganization } from "../../../test/support/admin-context.ts";
import { hashSecret, isWellFormedSecret } from "../../lib/secret.ts";
import { bootstrap } from "../bootstrap.ts";
import { removeKey } from "./keys.ts";

test("a key's secret is well formed, shown once, and stored as its hash only", async () => {
  const context = await withOrganization();
  const { secret, key } = await createKey(context, { organizationId: "acme", name: "Production" });
  expect(isWellFormedSecret(secret)).toBe(true);
  expect(key).toMatchObject({
    prefix: secret.slice(0, 8),
    hash: hashSecret(secret),
    scopes: ["ai:*"],
    models: "*",
  });
  expect(JSON.stringify([await listKeys(context, {}), context.store.changes])).not.toContain(secret.slice(8));
  expect(await context.store.keys.findByHash(hashSecret(secret))).toEqual(key);
});

test("a key is refused when its organization, model, scope, address or expiry is invalid", async () => {
  const context = await withOrganization();
  const valid = { organizationId: "acme", name: "k" };
  expect(await refusal(createKey(context, { ...valid, organizationId: "none" }))).toEqual([
    404,
    "organizationId",
    expect.any(String),
  ]);
  expect(await refusal(createKey(context, { ...valid, models: ["nothing"] }))).toEqual([
    400,
    "models",
    expect.any(String),
  ]);
  expect(await refusal(createKey(context, { ...valid, scopes: ["ai:video"] }))).toEqual([
    400,
    "scopes[0]",
    expect.any(String),
  ]);
  expect(await refusal(createKey(context, { ...valid, scopes: [] }))).toEqual([
    400,
    "scopes",
    expect.any(String),
  ]);
  expect(await refusal(createKey(context, { ...valid, addresses: ["10.0.0.0/33"] }))).toEqual([
    400,
    "addresses[0]",
    "addresses[0] must be an address or a network such as 10.0.0.0/8",
  ]);
  expect(await refusal(createKey(context, { ...valid, expiresAt: NOW }))).toEqual([
    400,
    "expiresAt",
    expect.any(String),
  ]);
  expect(await context.store.keys.list()).toEqual([]);
});

test("a key can be disabled and restricted later, and an unknown one is 404", async () => {
  const context = await withOrganization();
  const { key } = await createKey(context, { organizationId: "acme", name: "k", limits: { queuedJobs: 1 } });
  await updateKey(context, key.id, { isDisabled: true, limits: { runningJobs: 2 } });
  expect(await context.store.keys.get(key.id)).toEqual({
    ...key,
    isDisabled: true,
    limits: { queuedJobs: 1, runningJobs: 2 },
    version: key.version + 1,
  });
  expect(await refusal(updateKey(context, "key_none", { isDisabled: true }))).toEqual([
    404,
    "id",
    'there is no key "key_none"',
  ]);
});

test("everything but a key's secret can be changed, and an expiry in the past is refused", async () => {
  const context = await withOrganization();
  const { key } = await createKey(context, { organizationId: "acme", name: "k", expiresAt: NOW + 1 });
  const change = {
    name: "renamed",
    scopes: ["ai:llm"],
    models: ["sandbox-chat"],
    addresses: ["10.0.0.0/8"],
    limits: { requestsPerMinute: 5 },
    expiresAt: null,
  };
  expect(await updateKey(context, key.id, change)).toEqual({ ...key, ...change, version: 2 } as typeof key);
  expect(await refusal(updateKey(context, key.id, { expiresAt: NOW }))).toEqual([
    400,
    "expiresAt",
    "expiresAt lies in the past",
  ]);
});

test("a rotation gives the same key another secret", async () => {
  const context = await withOrganization();
  const { key, secret } = await createKey(context, { organizationId: "acme", name: "k" });
  const rotated = await rotateKey(context, key.id, { overlapMs: 1000 });
  expect(rotated.secret).not.toBe(secret);
  expect(rotated.key).toEqual({
    ...key,
    hash: hashSecret(rotated.secret),
    prefix: rotated.secret.slice(0, 8),
  });
  expect(await context.store.keys.isRetired(hashSecret(secret))).toBe(true);
  expect(await refusal(rotateKey(context, "key_none", { overlapMs: 0 }))).toEqual([
    404,
    "id",
    'there is no key "key_none"',
  ]);
});

test("a fixed secret that was rotated away or deleted does not come back with a restart", async () => {
  const context = await withOrganization();
  const fixed = { key: "gk_fixed-by-the-operator_1", administratorPassword: null };
  await bootstrap(context, fixed);
  const [key] = (await listKeys(context, { organizationId: "default" })).data;
  await removeKey(context, key!.id);
  await bootstrap(context, fixed);
  expect((await listKeys(context, { organizationId: "default" })).data).toEqual([]);
  expect(await refusal(removeKey(context, key!.id))).toEqual([404, "id", expect.any(String)]);
});
