import type { PromptStore } from "../../admin/prompts/store-port.ts";
import type { PromptRecord, PromptRemoval } from "../../admin/prompts/schema.ts";
import { nextTurn } from "../../lib/waiting.ts";
import { firstOf, padded } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { nullable, table, text, time, type Row } from "../database/table.ts";
import { makeChange } from "./change.ts";

const prompts = table<PromptRecord>("prompts", {
  id: text(),
  at: time(),
  organizationId: text(),
  keyId: text(),
  model: nullable(text()),
  prompt: text(),
  reply: text(),
  expiresAt: time(),
});

/** Maximum number of rows in one transaction, so that other transactions do not wait long. */
const BATCH = 200;

/** The logged prompts and replies of organizations. */
export function promptStore(database: Database): PromptStore {
  return {
    async add(records) {
      await database.insertRows(prompts.name, records.map(prompts.write));
    },
    async read(id, by) {
      let found: PromptRecord | null = null;
      await makeChange(database, { by, kind: "prompt", action: "read", subject: id }, async (sql) => {
        const prompt = prompts.first(await sql<Row[]>`SELECT * FROM prompts WHERE id = ${id}`);
        found = prompt;
        return prompt && { before: null, after: null, organizationId: prompt.organizationId };
      });
      return found;
    },
    async organizationOf(id) {
      const rows = await database.read(
        (sql) => sql<{ organization_id: string }[]>`SELECT organization_id FROM prompts WHERE id = ${id}`,
      );
      return firstOf(rows)?.organization_id ?? null;
    },
    async remove(selected, by) {
      const { organizationId, id, keyId, before } = selected;
      const subject = id ?? keyId ?? organizationId;
      const change = { by, kind: "prompt", action: "remove", subject } as const;
      let removed = 0;
      for await (const ids of selectedIds(database, selected)) {
        const removeBatch = async (sql: Sql): Promise<void> => {
          await sql`DELETE FROM prompts WHERE id IN ${sql(padded(ids))}`;
        };
        if (removed > 0) await database.begin(removeBatch);
        else
          await makeChange(database, change, async (sql) => {
            await removeBatch(sql);
            return { before: { organizationId, id, keyId, before }, after: null };
          });
        removed += ids.length;
      }
      return removed;
    },
    async sweep(now) {
      const removed = await database.begin(
        (sql) => sql<object[]>`DELETE FROM prompts WHERE id IN
          (SELECT id FROM prompts WHERE expires_at < ${now} ORDER BY expires_at LIMIT ${BATCH}) RETURNING id`,
      );
      return removed.length;
    },
  };
}

/** Number of rows that one query searches. The table has no index for this search. */
const LOOK = 1000;

/** Yields the ids of the selected prompts, in batches for one transaction each. */
async function* selectedIds(
  database: Database,
  { organizationId, id, keyId, before = Infinity }: PromptRemoval,
): AsyncGenerator<string[]> {
  let last = "";
  for (;;) {
    const rows = await database.read((sql) =>
      // The query reads only these columns, because the texts in the other columns are large.
      id === undefined
        ? sql<
            Row[]
          >`SELECT id, at, organization_id, key_id FROM prompts WHERE id > ${last} ORDER BY id LIMIT ${LOOK}`
        : sql<Row[]>`SELECT id, at, organization_id, key_id FROM prompts WHERE id = ${id}`,
    );
    const ids = rows.flatMap((row) =>
      row["organization_id"] === organizationId &&
      (keyId === undefined || row["key_id"] === keyId) &&
      Number(row["at"]) < before
        ? [String(row["id"])]
        : [],
    );
    for (let start = 0; start < ids.length; start += BATCH) yield ids.slice(start, start + BATCH);
    last = String(rows.at(-1)?.["id"]);
    if (id !== undefined || rows.length < LOOK) return;
    await nextTurn();
  }
}
