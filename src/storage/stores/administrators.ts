import type { AdministratorStore } from "../../admin/member-ports.ts";
import { makeChange } from "./change.ts";
import { firstOf } from "../database/columns.ts";
import type { Database } from "../database/sql.ts";

/** Administrators of the console; the audit records that a password was set, never its hash. */
export function administratorStore(database: Database): AdministratorStore {
  return {
    create(administrator, by) {
      const change = { by, kind: "administrator", action: "create", subject: administrator.id } as const;
      return makeChange(database, change, async (sql, revision) => {
        const { id, name, passwordHash, createdAt } = administrator;
        const rows = await sql`INSERT INTO administrators (id, name, password_hash, created_at, revision)
          VALUES (${id}, ${name}, ${passwordHash}, ${createdAt}, ${revision})
          ON CONFLICT (name) DO NOTHING RETURNING id`;
        return rows.length === 0 ? null : { before: null, after: { id, name, createdAt } };
      });
    },
    async get(name) {
      return firstOf(
        await database.read(
          (sql) => sql<{ id: string; name: string; passwordHash: string }[]>`
            SELECT id, name, password_hash AS "passwordHash" FROM administrators WHERE name = ${name}`,
        ),
      );
    },
    setPassword(name, passwordHash, by) {
      const change = { by, kind: "administrator", action: "update", subject: name } as const;
      return makeChange(database, change, async (sql, revision) => {
        const rows = await sql<{ id: string }[]>`
          UPDATE administrators SET password_hash = ${passwordHash}, revision = ${revision}
          WHERE name = ${name} RETURNING id`;
        const row = firstOf(rows);
        return row && { before: { id: row.id, name }, after: { id: row.id, name, isPasswordSet: true } };
      });
    },
  };
}
