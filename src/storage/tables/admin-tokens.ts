import type { AdminTokenStore } from "../../admin/members/store-port.ts";
import type { AdminTokenRecord } from "../../admin/tokens/schema.ts";
import type { Database } from "../database/sql.ts";
import { json, named, nullable, table, text, time, type Row } from "../database/table.ts";
import { makeChange } from "./change.ts";
import { findMember } from "./members.ts";

const tokens = table<AdminTokenRecord>("admin_tokens", {
  id: text(),
  hash: text(),
  prefix: named("hint", text()),
  name: text(),
  memberId: named("administrator_id", text()),
  role: text(),
  organizations: json(),
  expiresAt: time(),
  lastUsedAt: nullable(time()),
  createdAt: time(),
});

/** Bearer tokens of the administrative interface. Only the hash and the first characters of a token are stored. */
export function adminTokenStore(database: Database): AdminTokenStore {
  return {
    async create(token, by) {
      const change = { by, kind: "admin token", action: "create", subject: token.id } as const;
      await makeChange(database, change, async (sql, revision) => {
        await sql`INSERT INTO admin_tokens ${sql({ ...tokens.write(token), revision })}`;
        return { before: null, after: withoutHash(token) };
      });
    },
    async get(id) {
      return tokens.first(
        await database.read((sql) => sql<Row[]>`SELECT * FROM admin_tokens WHERE id = ${id}`),
      );
    },
    async find(hash) {
      const token = tokens.first(
        await database.read((sql) => sql<Row[]>`SELECT * FROM admin_tokens WHERE hash = ${hash}`),
      );
      const member = token && (await findMember(database, token.memberId));
      return member && { token, member };
    },
    async list(memberId) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM admin_tokens
          ${memberId === undefined ? sql`` : sql`WHERE administrator_id = ${memberId}`} ORDER BY created_at, id`,
      );
      return rows.map(tokens.read);
    },
    async touch(id, at) {
      await database.begin((sql) => sql`UPDATE admin_tokens SET last_used_at = ${at} WHERE id = ${id}`);
    },
    remove: (id, by) =>
      makeChange(database, { by, kind: "admin token", action: "remove", subject: id }, async (sql) => {
        const token = tokens.first(await sql<Row[]>`DELETE FROM admin_tokens WHERE id = ${id} RETURNING *`);
        return token && { before: withoutHash(token), after: null };
      }),
  };
}

function withoutHash({ hash: _hash, ...shown }: AdminTokenRecord): object {
  return shown;
}
