import type { PromptStore } from "../../admin/prompts/store-port.ts";
import type { PromptRecord } from "../../admin/prompts/schema.ts";
import { firstOf } from "../database/expressions.ts";
import type { Database } from "../database/sql.ts";
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

/** Rows of one transaction: few, so that nothing waits. */
const BATCH = 200;

/** Prompts and replies of organizations that have them logged. */
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
    async sweep(now) {
      const removed = await database.begin(
        (sql) => sql<object[]>`DELETE FROM prompts WHERE id IN
          (SELECT id FROM prompts WHERE expires_at < ${now} ORDER BY expires_at LIMIT ${BATCH}) RETURNING id`,
      );
      return removed.length;
    },
  };
}
