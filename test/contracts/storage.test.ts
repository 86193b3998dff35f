import { beforeAll, expect, test } from "bun:test";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import { readLine, RecordLines } from "../../src/storage/journal/record-line.ts";
import { migrate, MIGRATIONS } from "../../src/storage/database/migrate.ts";
import { openLinkSecrets } from "../../src/storage/tables/link-secrets.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { aBudget, aKey, anEntry, anOrganization, BY, onEachDatabase } from "./storage-harness.ts";
import type { PriceRecord } from "../../src/admin/prices/store-port.ts";

/** Names of all migrations. No migration may be removed or renamed. */
const MIGRATION_NAMES = [
  "0001_tables",
  "0002_ledger_exports",
  "0003_charged_failures",
  "0004_ledger_export_epochs",
  "0005_webhook_formats",
  "0006_event_ends",
  "0007_budget_levels",
  "0008_series",
  "0009_message_codes",
  "0010_caller_series",
];

onEachDatabase("The store", (databases) => {
  let database: Database;
  let stores: Stores;
  beforeAll(async () => {
    database = await databases.open(await databases.location());
    await migrate(database);
    stores = storesOn(database);
  });

  test("processes that start together migrate once", async () => {
    const location = await databases.location();
    const handles = await Promise.all([
      databases.open(location),
      databases.open(location),
      databases.open(location),
    ]);
    const applied = await Promise.all(handles.map((handle) => migrate(handle)));
    expect(applied.flat()).toEqual(MIGRATION_NAMES);
  });

  test("a database of the version before has the migrations that it lacks", async () => {
    const opened = await databases.open(await databases.location());
    await migrate(opened, MIGRATIONS.slice(0, 1));
    const added = {
      name: "0002_notes",
      text: "CREATE TABLE notes (id TEXT); INSERT INTO notes VALUES ('a')",
    };
    expect(await migrate(opened, [...MIGRATIONS.slice(0, 1), added])).toEqual([added.name]);
    expect(await migrate(opened, [...MIGRATIONS.slice(0, 1), added])).toEqual([]);
    expect(await opened.read((sql) => sql<object[]>`SELECT id FROM notes`)).toEqual([{ id: "a" }]);
    await expect(migrate(opened, MIGRATIONS.slice(0, 1))).rejects.toThrow(
      "the database is at version 2 but this program only knows 1: update the program",
    );
  });

  test.each([
    { names: ["0001_first_tables"], found: "one" },
    { names: ["0001_first_tables", "0002_contention_and_corrections"], found: "several" },
  ])("a database of a development version is refused and left as it is: $found", async ({ names }) => {
    const opened = await databases.open(await databases.location());
    const made = names.map((name, index) => ({ name, text: `CREATE TABLE development_${index} (id TEXT)` }));
    await migrate(opened, made);
    await expect(migrate(opened)).rejects.toThrow(
      "the schema of the database is unknown: its migration 1 is 0001_first_tables and not 0001_tables",
    );
    await expect(migrate(opened, made)).resolves.toEqual([]);
    await expect(opened.read((sql) => sql`SELECT id FROM ledger`)).rejects.toThrow(/ledger/);
  });

  test("processes that start together agree on one secret, and the newest is first", async () => {
    const location = await databases.location();
    const handles = await Promise.all([
      databases.open(location),
      databases.open(location),
      databases.open(location),
    ]);
    await migrate(handles[0]!);
    const secrets = await Promise.all(
      handles.map(async (handle) => (await openLinkSecrets(handle)).current()),
    );
    expect(new Set(secrets.flat()).size).toBe(1);
    expect(secrets[0]![0]).toMatch(/^[0-9a-f]{64}$/);
    await handles[1]!.begin((sql) => sql`INSERT INTO shared_secrets VALUES (${"links"}, ${1}, ${"newer"})`);
    expect((await openLinkSecrets(handles[2]!)).current()).toEqual(["newer", secrets[0]![0]!]);
  });

  test("a rotated link secret is kept while a link made with it can be valid", async () => {
    const handle = await databases.open(await databases.location());
    await migrate(handle);
    const read = async () => (await openLinkSecrets(handle)).current();
    const [first] = await read();
    const { linkSecrets } = storesOn(handle).admin;
    const [by, hour] = [{ actor: "tester" }, 3_600_000];
    const at = 1_800_000_000_000;
    expect(await linkSecrets.rotate({ at, keepsOld: true }, by)).toEqual({ kept: 1 });
    const [second] = await read();
    expect(await linkSecrets.rotate({ at: at + 167 * hour, keepsOld: true }, by)).toEqual({ kept: 2 });
    expect((await read()).slice(1)).toEqual([second!, first!]);
    expect(await linkSecrets.rotate({ at: at + 169 * hour, keepsOld: true }, by)).toEqual({ kept: 2 });
    expect((await read()).slice(2)).toEqual([second!]);
    expect(await linkSecrets.rotate({ at, keepsOld: false }, by)).toEqual({ kept: 0 });
    expect(await read()).toHaveLength(1);
  });

  test("the previous link secret signs until every process knows the new one", async () => {
    const handle = await databases.open(await databases.location());
    await migrate(handle);
    const time = { now: 0 };
    const live = await openLinkSecrets(handle, { now: () => 0, monotonic: () => time.now });
    const [first] = live.current();
    const { linkSecrets } = storesOn(handle).admin;
    await linkSecrets.rotate({ at: 1, keepsOld: true }, { actor: "tester" });
    await live.reload();
    expect(live.current()[0]).toBe(first!);
    time.now = 2_000;
    expect(live.current()[0]).not.toBe(first!);
    await linkSecrets.rotate({ at: 2, keepsOld: false }, { actor: "tester" });
    await live.reload();
    expect(live.current()).toHaveLength(1);
  });

  test("a migration that fails leaves nothing behind", async () => {
    const handle = await databases.open(await databases.location());
    const good = { name: "0001_good", text: "CREATE TABLE one (id BIGINT)" };
    const bad = { name: "0002_bad", text: "CREATE TABLE two (id BIGINT); SELECT nothing FROM nowhere" };
    await expect(migrate(handle, [good, bad])).rejects.toThrow();
    expect(await migrate(handle, [good])).toEqual(["0001_good"]);
  });

  test("a database that is newer than the program is refused", async () => {
    const handle = await databases.open(await databases.location());
    await migrate(handle, [
      { name: "0001", text: "SELECT 1" },
      { name: "0002", text: "SELECT 1" },
    ]);
    await expect(migrate(handle, [{ name: "0001", text: "SELECT 1" }])).rejects.toThrow("at version 2");
  });

  test("an organization is read as it was written and changed", async () => {
    const { organizations } = stores.admin;
    const organization = anOrganization("org_round", {
      models: ["a", "b"],
      limits: { requestsPerMinute: 5, tokensPerMinute: null },
      routes: { a: { strategy: "weighted", targets: [{ channel: "c", upstreamModel: "u", weight: 0.5 }] } },
    });
    const created = await organizations.create(organization, BY);
    expect(created).toEqual({ ...organization, version: created.version });
    expect(await organizations.get("org_round")).toEqual(created);
    expect(
      await organizations.update("org_round", () => ({ isDisabled: true, name: undefined }), BY),
    ).toMatchObject({ isDisabled: true });
    const changed = { ...organization, isDisabled: true, version: created.version + 1 };
    expect(await organizations.get("org_round")).toEqual(changed);
    expect(await organizations.list()).toContainEqual(changed);
  });

  test("what does not exist is null, and changing it is false", async () => {
    const { organizations, keys, budgets, members } = stores.admin;
    expect(await organizations.get("org_none")).toBeNull();
    expect(await organizations.update("org_none", () => ({ name: "x" }), BY)).toBeNull();
    expect(await keys.get("key_none")).toBeNull();
    expect(await keys.update("key_none", () => ({ name: "x" }), BY)).toBeNull();
    expect(await budgets.update("budget_none", () => ({ amount: 1n }), BY)).toBeNull();
    expect(await budgets.remove("budget_none", BY)).toBe(false);
    expect(await members.get("nobody")).toBeNull();
    expect(
      await members.update("nobody", () => ({ role: "owner" }), { by: BY, action: "update" }),
    ).toBeNull();
    expect(await members.remove("nobody", () => {}, BY)).toBe(false);
  });

  test("a key is found by its hash", async () => {
    const { keys } = stores.admin;
    const fields = aKey("key_hash", "org_round", {
      addresses: ["10.0.0.0/8"],
      scopes: ["ai:image"],
      models: ["m"],
      expiresAt: 4_102_444_800_000,
    });
    const key = (await keys.create(fields, BY))!;
    expect(key).toEqual({ ...fields, version: key.version });
    expect(await keys.findByHash(key.hash)).toEqual(key);
    expect(await keys.findByHash("0".repeat(64))).toBeNull();
    expect(await keys.list("org_round")).toEqual([key]);
    expect(await keys.list("org_other")).toEqual([]);
    await keys.update("key_hash", () => ({ isDisabled: true, expiresAt: null }), BY);
    expect(await keys.get("key_hash")).toEqual({
      ...key,
      isDisabled: true,
      expiresAt: null,
      version: key.version + 1,
    });
    expect(await keys.create({ ...fields, id: "key_of_the_same_secret" }, BY)).toBeNull();
  });

  test("prices keep every nano-unit", async () => {
    const image: PriceRecord = {
      id: "price_image",
      organizationId: "org_round",
      model: "picture",
      currency: "CNY",
      price: { unit: "image", perImage: { "1K": { "*": 1n, high: 9_007_199_254_740_993n } } },
      effectiveFrom: 10,
      effectiveUntil: null,
      createdAt: 20,
    };
    const token: PriceRecord = {
      ...image,
      id: "price_token",
      organizationId: null,
      price: {
        unit: "token",
        perMillion: { input: 3n, output: 4n, cacheRead: 0n },
        perUse: { web_search: 10_000_000n },
        longContext: { above: 200_000, perMillion: { input: 9_007_199_254_740_993n } },
      },
    };
    await stores.admin.prices.add(image, BY);
    await stores.admin.prices.add(token, BY);
    expect(await stores.admin.prices.list({ organizationId: "org_round" })).toEqual([image]);
    expect(await stores.admin.prices.list({ organizationId: null, model: "picture" })).toEqual([token]);
    expect(await stores.admin.prices.list({ model: "picture" })).toHaveLength(2);
  });

  test("an entry keeps the vendor's cost, in the store and in the journal", async () => {
    const vendorCost = { amount: 9_007_199_254_740_993n, currency: "USD" };
    const entry = anEntry("with_cost", 1n, { vendorCost, at: 1, model: "costly" });
    const record = readLine(new RecordLines().write({ type: "charge", entry }).subarray(0, -1));
    expect(record).toEqual({ type: "charge", entry });
    await stores.ledger.post("", [record!.entry]);
    expect(await stores.ledger.find("with_cost", "charge")).toEqual({
      ...entry,
      sequence: expect.any(Number),
    });
    await stores.ledger.post("", [anEntry("without_cost", 1n)]);
    expect(await stores.ledger.find("without_cost", "charge")).not.toHaveProperty("vendorCost");
  });

  test("a budget keeps amounts that a float cannot represent", async () => {
    const { budgets } = stores.admin;
    const budget = aBudget("budget_big", 9_223_372_036_854_775_807n, { keyId: "key_hash" });
    const created = await budgets.create(budget, BY);
    const readAt: number = expect.any(Number);
    const level = { nearSince: null, spentSince: null };
    expect(await budgets.get("budget_big")).toEqual({
      ...budget,
      ...level,
      version: created.version,
      readAt,
    });
    const amount = 9_007_199_254_740_993n;
    const changed = { ...budget, ...level, amount, version: created.version + 1, readAt };
    expect(await budgets.update("budget_big", () => ({ amount }), BY)).toEqual(changed);
    expect(await budgets.list("org_a")).toEqual([changed]);
    expect(await budgets.remove("budget_big", BY)).toBe(true);
    expect(await budgets.get("budget_big")).toBeNull();
  });

  test("every change leaves one audit row, without hashes", async () => {
    await stores.admin.keys.create(aKey("key_audited", "org_round"), { actor: "user_7" });
    await stores.admin.keys.update("key_audited", () => ({ isDisabled: true }), { actor: "user_8" });
    const rows = await stores.audit.list({ subject: "key_audited", limit: 10 });
    expect(rows.map((row) => [row.actor, row.kind, row.action])).toEqual([
      ["user_8", "key", "update"],
      ["user_7", "key", "create"],
    ]);
    expect(rows[0]).toMatchObject({ before: { isDisabled: false }, after: { isDisabled: true } });
    const all = JSON.stringify(await stores.audit.list({ limit: 1000 }), (_name, value) =>
      typeof value === "bigint" ? value.toString() : value,
    );
    expect(all).not.toContain(aKey("key_audited", "").hash);
    expect(all).not.toContain("hash-1");
    expect(all).not.toContain("hash-2");
  });

  test("a change that fails leaves neither a revision nor an audit row", async () => {
    await stores.admin.organizations.create(anOrganization("org_twice"), BY);
    const before = await stores.audit.list({ limit: 1 });
    await expect(
      stores.admin.organizations.create(anOrganization("org_twice"), BY),
    ).rejects.not.toBeInstanceOf(DependencyError);
    const [last] = await stores.audit.list({ limit: 1 });
    expect(last).toEqual(before[0]);
    await stores.admin.organizations.update("org_twice", () => ({ name: "next" }), BY);
    const [next] = await stores.audit.list({ limit: 1 });
    expect(next!.revision).toBe(last!.revision + 1n);
  });

  test("readers never see an open transaction", async () => {
    const names = async () =>
      (await stores.admin.organizations.list()).map((organization) => organization.name);
    const failure = new Error("on purpose");
    const attempt = database.begin(async (sql) => {
      await sql`UPDATE organizations SET name = 'unseen'`;
      expect(await names()).not.toContain("unseen");
      throw failure;
    });
    await expect(attempt).rejects.toBe(failure);
    expect(await names()).not.toContain("unseen");
  });

  test("a transaction that outlives its deadline is rolled back", async () => {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const attempt = database.begin(async (sql) => {
      await sql`UPDATE organizations SET name = 'too late'`;
      await late;
    }, 20);
    await expect(attempt).rejects.toBeInstanceOf(DependencyError);
    resolve();
    await database.begin(async () => {});
    expect((await stores.admin.organizations.get("org_twice"))!.name).toBe("next");
  });
});
