import { beforeAll, expect, test } from "bun:test";
import type { AdminContext, OperationContext } from "../../src/admin/context.ts";
import { exportList } from "../../src/admin/exports/exports.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { listLedger } from "../support/admin-calls.ts";
import { adminContext, refusal } from "../support/admin-context.ts";
import { aKey, anEntry, anOrganization, BY, onEachDatabase } from "./storage-harness.ts";

onEachDatabase("The ledger", (databases) => {
  let database: Database;
  let stores: Stores;
  let context: AdminContext;
  beforeAll(async () => {
    database = await databases.open(await databases.location());
    await migrate(database);
    stores = storesOn(database);
    context = { ...(await adminContext()), store: stores.admin };
    for (const id of ["org_1", "org_2"]) await stores.admin.organizations.create(anOrganization(id), BY);
    await stores.admin.keys.create(aKey("key_1", "org_1"), BY);
    // Entries share milliseconds. A cursor that contains only the time would lose or repeat some of them.
    const entries = Array.from({ length: 2500 }, (_, index) =>
      anEntry(`entry_${String(index).padStart(4, "0")}`, BigInt(index), {
        at: 1_000_000 + Math.floor(index / 7),
        organizationId: index % 2 === 0 ? "org_1" : "org_2",
        keyId: index % 10 === 0 ? "key_1" : "key_2",
        model: index % 100 === 0 ? "rare-model" : "model",
        requestId: index % 1000 === 0 ? "retried" : `request-${index}`,
      }),
    );
    await stores.ledger.post("", entries);
  });

  const idsOf = async (filter: object) =>
    (await listLedger(context, { limit: 1000, ...filter })).entries.map(({ id }) => id);

  test("cursors lead through every entry once, newest first", async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { entries, next } = await listLedger(context, { limit: 999, cursor });
      seen.push(...entries.map(({ id }) => id));
      cursor = next ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(2500);
    expect(seen).toEqual(seen.toSorted().toReversed());
  });

  test("a last page has no cursor, and an unknown cursor is refused", async () => {
    expect((await listLedger(context, { model: "rare-model", limit: 25 })).next).toBeNull();
    expect((await listLedger(context, { model: "rare-model", limit: 24 })).next).toBe("entry_0100");
    expect(await refusal(listLedger(context, { cursor: "none" }))).toEqual([
      404,
      "cursor",
      'there is no entry "none" in the ledger to go on from',
    ]);
  });

  test("an export has no cap", async () => {
    const read = async (filter: object) => {
      const pieces = await exportList(context as OperationContext, "ledger", { ...filter, format: "json" });
      const pages = (await Array.fromAsync(pieces)).map((piece) => piece.trimEnd().split("\n"));
      return pages.map((lines) => lines.map((line): { id: string } => JSON.parse(line)));
    };
    const pages = await read({});
    expect(pages.map((page) => page.length)).toEqual(Array.from({ length: 10 }, () => 250));
    expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(2500);
    expect(await read({ keyId: "key_1", organizationId: "org_2" })).toEqual([]);
  });

  test("entries are found by organization, key, model, request id and time", async () => {
    expect(await idsOf({ requestId: "retried" })).toEqual(["entry_2000", "entry_1000", "entry_0000"]);
    expect(await idsOf({ keyId: "key_1" })).toHaveLength(250);
    expect(await idsOf({ keyId: "key_1", organizationId: "org_2" })).toEqual([]);
    expect(await idsOf({ model: "rare-model", to: 1_000_020 })).toEqual(["entry_0100", "entry_0000"]);
    expect(await idsOf({ organizationId: "org_1", from: 1_000_356 })).toEqual([
      "entry_2498",
      "entry_2496",
      "entry_2494",
      "entry_2492",
    ]);
    expect(await idsOf({ organizationId: "org_1", from: 1_000_356, to: 1_000_356 })).toEqual([]);
    expect(await refusal(listLedger(context, { keyId: "key_none" }))).toEqual([
      404,
      "keyId",
      'there is no key "key_none"',
    ]);
  });

  if (databases.kind === "postgres") return;

  test.each([
    ["of everyone", "1 = 1", "ledger_by_time"],
    ["of an organization", "organization_id = 'org_1'", "ledger_by_organization"],
    ["of a key", "key_id = 'key_1'", "ledger_by_key"],
    ["of a request", "request_id = 'retried'", "ledger_by_request"],
  ])("a page %s is read by an index", async (_, condition, index) => {
    const plan = await database.read((sql) =>
      sql.unsafe<{ detail: string }[]>(`EXPLAIN QUERY PLAN SELECT * FROM ledger WHERE ${condition}
          AND (at, id) < (1000100, 'entry_9') ORDER BY at DESC, id DESC LIMIT 50`),
    );
    expect(plan[0]!.detail).toStartWith(`SEARCH ledger USING INDEX ${index} `);
  });
});
