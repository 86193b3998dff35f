import { beforeEach, expect, test } from "bun:test";
import type { PromptRemoval } from "../../src/admin/prompts/schema.ts";
import { openStores, type Stores } from "../../src/storage/tables/stores.ts";
import { BY, onEachDatabase } from "./storage-harness.ts";

/** More rows than one pass through the table, or one transaction, processes. */
const MANY = 2_500;
const START = Date.UTC(2026, 4, 15);

onEachDatabase("Kept prompts", (databases) => {
  let stores: Stores;
  beforeEach(async () => {
    stores = await openStores(await databases.location());
    const prompts = Array.from({ length: MANY }, (_, index) => ({
      id: `entry_${String(index).padStart(5, "0")}`,
      at: START + index,
      organizationId: index % 5 === 0 ? "other" : "clinic",
      keyId: index % 2 === 0 ? "key_even" : "key_odd",
      model: "m",
      prompt: "said",
      reply: "answered",
      expiresAt: 10 ** 13,
    }));
    await stores.admin.prompts.add(prompts);
  });

  const left = async (): Promise<Record<string, number>> => {
    const rows = await stores.database.read(
      (sql) => sql<
        { organization_id: string; count: number | bigint }[]
      >`SELECT organization_id, COUNT(*) AS count
        FROM prompts GROUP BY organization_id`,
    );
    return Object.fromEntries(rows.map((row) => [row.organization_id, Number(row.count)]));
  };
  const removals: [string, Omit<PromptRemoval, "organizationId">, number][] = [
    ["all", {}, 2_000],
    ["of a key", { keyId: "key_even" }, 1_000],
    ["before a time", { before: START + 100 }, 80],
    ["of a key before a time", { keyId: "key_odd", before: START + 100 }, 40],
    ["of a request", { id: "entry_00001" }, 1],
    ["of a request of another organization", { id: "entry_00000" }, 0],
    ["of a request of another key", { id: "entry_00001", keyId: "key_even" }, 0],
  ];

  test.each(removals)("those of an organization are deleted: %s", async (_, condition, count) => {
    const selected = { organizationId: "clinic", ...condition };
    expect(await stores.admin.prompts.remove(selected, BY)).toBe(count);
    expect(await left()).toEqual({ ...(count < 2_000 && { clinic: 2_000 - count }), other: 500 });
    const rows = await stores.admin.audit.list({ kind: "prompt", limit: 10 });
    expect(rows).toMatchObject(
      count === 0 ? [] : [{ action: "remove", organizationId: "clinic", before: selected, after: null }],
    );
    expect(rows).toHaveLength(count === 0 ? 0 : 1);
    expect(await stores.admin.prompts.remove(selected, BY)).toBe(0);
  });
});
