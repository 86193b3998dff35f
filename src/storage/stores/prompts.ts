import type { PromptRecord, PromptStore } from "../../admin/prompt-ports.ts";
import { firstOf, type Integer } from "../database/columns.ts";
import type { Database } from "../database/sql.ts";
import { makeChange } from "./change.ts";

/** Rows of one transaction: few, so that nothing waits. */
const BATCH = 200;

/** Prompts and replies of organizations that have them logged. */
export function promptStore(database: Database): PromptStore {
  return {
    async add(prompts) {
      await database.insertRows("prompts", prompts.map(writePrompt));
    },
    async read(id, by) {
      let found: PromptRecord | null = null;
      await makeChange(database, { by, kind: "prompt", action: "read", subject: id }, async (sql) => {
        const row = firstOf(await sql<PromptRow[]>`SELECT * FROM prompts WHERE id = ${id}`);
        found = row && readPrompt(row);
        return row && { before: null, after: null, organizationId: row.organization_id };
      });
      return found;
    },
    async organizationOf(id) {
      const rows = await database.read(
        (sql) =>
          sql<Pick<PromptRow, "organization_id">[]>`SELECT organization_id FROM prompts WHERE id = ${id}`,
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

interface PromptRow {
  id: string;
  at: Integer;
  organization_id: string;
  key_id: string;
  model: string | null;
  prompt: string;
  reply: string;
  expires_at: Integer;
}

function readPrompt(row: PromptRow): PromptRecord {
  return {
    id: row.id,
    at: Number(row.at),
    organizationId: row.organization_id,
    keyId: row.key_id,
    model: row.model,
    prompt: row.prompt,
    reply: row.reply,
    expiresAt: Number(row.expires_at),
  };
}

function writePrompt(record: PromptRecord): PromptRow {
  return {
    id: record.id,
    at: record.at,
    organization_id: record.organizationId,
    key_id: record.keyId,
    model: record.model,
    prompt: record.prompt,
    reply: record.reply,
    expires_at: record.expiresAt,
  };
}
