import type { ConfigurationStore, StoredEntry } from "../../admin/configuration/store-port.ts";
import { toColumn } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { bigInteger, json, table, text, time, type Row } from "../database/table.ts";
import { makeChange } from "./change.ts";

const entries = table<StoredEntry>("configuration", {
  kind: text(),
  id: text(),
  value: json(),
  createdAt: time(),
  revision: bigInteger(),
});

/**
 * The stored channels and models. The audit records them before and after a change, without plain or sealed secrets.
 */
export function configurationStore(database: Database): ConfigurationStore {
  return {
    async list() {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM configuration ORDER BY created_at, kind, id`,
      );
      return rows.map(entries.read);
    },
    create(entry, by) {
      const { kind, id, value } = entry;
      const change = { by, kind, action: "create", subject: id } as const;
      return makeChange(database, change, async (sql, revision) => {
        if (await find(sql, kind, id)) return null;
        await sql`INSERT INTO configuration ${sql(entries.write({ ...entry, revision }))}`;
        return { before: null, after: audited({ value }) };
      });
    },
    async update({ kind, id }, change, by, action = "update") {
      let after: StoredEntry | null = null;
      await makeChange(database, { by, kind, action, subject: id }, async (sql, revision) => {
        const before = await find(sql, kind, id);
        if (!before) return null;
        after = { ...before, value: change(before), revision };
        await sql`UPDATE configuration SET value = ${toColumn(after.value)}, revision = ${revision}
          WHERE kind = ${kind} AND id = ${id}`;
        return { before: audited(before), after: audited(after) };
      });
      return after;
    },
    remove({ kind, id }, by) {
      return makeChange(database, { by, kind, action: "remove", subject: id }, async (sql) => {
        const before = await find(sql, kind, id);
        if (!before) return null;
        await sql`DELETE FROM configuration WHERE kind = ${kind} AND id = ${id}`;
        return { before: audited(before), after: null };
      });
    },
  };
}

async function find(sql: Sql, kind: string, id: string): Promise<StoredEntry | null> {
  return entries.first(await sql<Row[]>`SELECT * FROM configuration WHERE kind = ${kind} AND id = ${id}`);
}

/**
 * Returns an entry with a fingerprint in place of each sealed secret. The audit then shows that a secret was changed,
 * but contains nothing that could be decrypted later.
 */
function audited({ value }: Pick<StoredEntry, "value">): object {
  return JSON.parse(JSON.stringify(value), (_name, part: unknown) =>
    isSealed(part) ? { sealed: Bun.CryptoHasher.hash("sha256", part.sealed, "hex").slice(0, 12) } : part,
  );
}

function isSealed(part: unknown): part is { sealed: string } {
  return typeof part === "object" && part !== null && "sealed" in part && typeof part.sealed === "string";
}
