import { beforeAll, expect, test } from "bun:test";
import { migrate } from "../../src/storage/database/migrate.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { aKey, anEntry, anOrganization, BY, onEachDatabase } from "./storage-harness.ts";
import { KEY_STATES } from "../../src/admin/keys/schema.ts";

const NOW = Date.now();
const HOUR_MS = 3_600_000;

onEachDatabase("Lists of keys", (databases) => {
  let stores: Stores;
  beforeAll(async () => {
    const database = await databases.open(await databases.location());
    await migrate(database);
    stores = storesOn(database);
    await stores.admin.organizations.create(anOrganization("org_1"), BY);
    const { keys } = stores.admin;
    await keys.create(aKey("key_plain", "org_1"), BY);
    await keys.create({ ...aKey("key_later", "org_1"), expiresAt: NOW + HOUR_MS }, BY);
    await keys.create({ ...aKey("key_over", "org_1"), expiresAt: NOW }, BY);
    await keys.create({ ...aKey("key_off", "org_1"), isDisabled: true, expiresAt: NOW - HOUR_MS }, BY);
  });

  const idsOf = async (filter: object) =>
    (await stores.admin.keys.page({ ...filter, limit: 10 })).map(({ id }) => id).toSorted();

  test("every key is in exactly one state at a moment", async () => {
    const [active, disabled, expired] = await Promise.all(
      KEY_STATES.map((name) => idsOf({ state: { name, now: NOW } })),
    );
    expect(active).toEqual(["key_later", "key_plain"]);
    expect(disabled).toEqual(["key_off"]);
    expect(expired).toEqual(["key_over"]);
  });

  test("a state is combined with the other filters", async () => {
    const state = { name: "active" as const, now: NOW };
    expect(await idsOf({ state, search: "LATER" })).toEqual(["key_later"]);
    expect(await idsOf({ state, organizationId: "org_2" })).toEqual([]);
  });
});

onEachDatabase("Lists of the ledger", (databases) => {
  test("sums by every name that is filtered decide whether entries are read", async () => {
    const database = await databases.open(await databases.location());
    await migrate(database);
    const { ledger, admin } = storesOn(database);
    const entries = ["org_a", "org_b"].map((organizationId) =>
      anEntry(organizationId, 1n, { organizationId }),
    );
    await ledger.post("proc", entries);
    const filter = { organizationId: "org_a", model: "sandbox-chat", limit: 10 };
    const listed = async () => (await admin.ledger.list(filter)).map(({ id }) => id);
    expect(await listed()).toEqual(["org_a"]);
    // The result does not show whether rows were read. Without sums the list must read none and so return nothing.
    for (const span of ["months", "days"])
      await database.begin(
        (sql) => sql`DELETE FROM ${sql.unsafe(`usage_${span}`)} WHERE organization_id = 'org_a'`,
      );
    expect(await listed()).toEqual([]);
    const { organizationId, ...others } = filter;
    const scoped = { ...others, organizationIds: [organizationId] };
    expect(await admin.ledger.list(scoped)).toEqual([]);
  });
});
