import { beforeEach, expect, test } from "bun:test";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { anOrganization, BY, onEachDatabase } from "./storage-harness.ts";

/* The audit's hash chain: the changes that it detects, and concurrent writers. */
onEachDatabase("the audit's chain", (databases) => {
  let location: string;
  let database: Database;
  let stores: Stores;

  beforeEach(async () => {
    location = await databases.location();
    database = await databases.open(location);
    await migrate(database);
    stores = storesOn(database);
  });

  const change = (count: number, prefix = "org", store = stores) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        store.admin.organizations.create(anOrganization(`${prefix}_${index}`), BY),
      ),
    );
  const faults = async (knownHead?: string) =>
    (await stores.audit.verify(knownHead)).faults.map(({ revision, fault }) => [
      revision,
      fault.split(":")[0],
    ]);
  const run = (statement: string) => database.begin((sql) => sql.unsafe(statement));

  test("is intact without rows, after changes and after changes that did nothing", async () => {
    expect(await stores.audit.verify()).toEqual({ rows: 0, head: null, faults: [], faultCount: 0 });
    await change(1);
    const { head } = await stores.audit.verify();
    expect(await stores.admin.keys.remove("key_unknown", BY)).toBe(false);
    await change(1, "later");
    const after = await stores.audit.verify(head!);
    expect(after).toEqual({
      rows: 2,
      head: expect.stringMatching(/^[0-9a-f]{64}$/),
      faults: [],
      faultCount: 0,
    });
    expect(after.head).not.toBe(head);
  });

  test("stays intact under concurrent writers", async () => {
    const others = await Promise.all([1, 2, 3].map(() => databases.open(location)));
    await Promise.all(others.map((other, index) => change(12, `writer_${index}`, storesOn(other))));
    expect(await stores.audit.verify()).toMatchObject({ rows: 36, faultCount: 0 });
  });

  test.each([
    "at = at + 1",
    "actor = 'somebody'",
    "source = 'elsewhere'",
    "kind = 'key'",
    "action = 'remove'",
    "subject = 'other'",
    "before_change = '{}'",
    "after_change = NULL",
  ])("finds a row that was changed: %s", async (set) => {
    await change(3);
    await run(`UPDATE audit SET ${set} WHERE revision = 2`);
    expect(await faults()).toEqual([[2n, "was changed"]]);
  });

  test("finds a row that was removed: the first, one between, the last, all", async () => {
    await change(4);
    await run("DELETE FROM audit WHERE revision = 1");
    expect(await faults()).toEqual([[2n, "does not follow the row before"]]);
    await run("DELETE FROM audit WHERE revision = 3");
    expect(await faults()).toHaveLength(2);
    await run("DELETE FROM audit WHERE revision = 4");
    expect(await faults()).toContainEqual([null, "the last row was removed, or the head was changed"]);
    await run("DELETE FROM audit");
    expect(await faults()).toEqual([[null, "the last row was removed, or the head was changed"]]);
  });

  test("finds rows that were renumbered, inserted or taken out of it", async () => {
    await change(3);
    await run(
      "INSERT INTO audit (revision, at, actor, kind, action, subject) VALUES (90, 1, 'a', 'key', 'create', 'k')",
    );
    expect(await faults()).toEqual([[90n, "is not in the chain"]]);
    await run("DELETE FROM audit WHERE revision = 90");
    await run("UPDATE audit SET hash = NULL WHERE revision = 2");
    expect(await faults()).toEqual([
      [2n, "is not in the chain"],
      [3n, "does not follow the row before"],
    ]);
  });

  test("a head that was kept elsewhere reveals a chain that was computed anew", async () => {
    await change(2);
    const { head } = await stores.audit.verify();
    await run("DELETE FROM audit");
    await run("UPDATE revision SET audit_head = NULL");
    await change(1, "forged");
    expect(await faults()).toEqual([]);
    expect(await faults(head!)).toEqual([[null, "the known head is not in the chain"]]);
  });

  test("records the source of a change", async () => {
    await stores.admin.organizations.create(anOrganization("org_source"), {
      actor: "ada",
      source: "cli/root@host",
    });
    expect(await stores.audit.list({ limit: 1 })).toMatchObject([{ actor: "ada", source: "cli/root@host" }]);
  });
});
