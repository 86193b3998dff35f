import type { AdminTokenRecord, AdminTokenStore } from "../../admin/member-ports.ts";
import { firstOf, toColumn, type Integer } from "../database/columns.ts";
import type { Database } from "../database/sql.ts";
import { makeChange } from "./change.ts";
import { readMemberRow, type MemberRow } from "./members.ts";

/** Bearer tokens of the administrative interface: the hash of a token, never the token. */
export function adminTokenStore(database: Database): AdminTokenStore {
  return {
    async create(token, by) {
      const change = { by, kind: "admin token", action: "create", subject: token.id } as const;
      await makeChange(database, change, async (sql, revision) => {
        await sql`INSERT INTO admin_tokens ${sql({ ...writeRow(token), revision })}`;
        return { before: null, after: withoutHash(token) };
      });
    },
    async get(id) {
      const rows = await database.read((sql) => sql<TokenRow[]>`SELECT * FROM admin_tokens WHERE id = ${id}`);
      const row = firstOf(rows);
      return row && readRow(row);
    },
    async find(hash) {
      const token = firstOf(
        await database.read((sql) => sql<TokenRow[]>`SELECT * FROM admin_tokens WHERE hash = ${hash}`),
      );
      if (!token) return null;
      const member = firstOf(
        await database.read(
          (sql) => sql<MemberRow[]>`SELECT * FROM administrators WHERE id = ${token.administrator_id}`,
        ),
      );
      return member && { token: readRow(token), member: readMemberRow(member) };
    },
    async list(memberId) {
      const rows = await database.read(
        (sql) => sql<TokenRow[]>`SELECT * FROM admin_tokens
          ${memberId === undefined ? sql`` : sql`WHERE administrator_id = ${memberId}`} ORDER BY created_at, id`,
      );
      return rows.map(readRow);
    },
    async touch(id, at) {
      await database.begin((sql) => sql`UPDATE admin_tokens SET last_used_at = ${at} WHERE id = ${id}`);
    },
    remove: (id, by) =>
      makeChange(database, { by, kind: "admin token", action: "remove", subject: id }, async (sql) => {
        const row = firstOf(await sql<TokenRow[]>`DELETE FROM admin_tokens WHERE id = ${id} RETURNING *`);
        return row && { before: withoutHash(readRow(row)), after: null };
      }),
  };
}

interface TokenRow {
  id: string;
  hash: string;
  hint: string;
  name: string;
  administrator_id: string;
  role: AdminTokenRecord["role"];
  organizations: string;
  expires_at: Integer;
  last_used_at: Integer | null;
  created_at: Integer;
}

function readRow(row: TokenRow): AdminTokenRecord {
  return {
    id: row.id,
    hash: row.hash,
    prefix: row.hint,
    name: row.name,
    memberId: row.administrator_id,
    role: row.role,
    organizations: JSON.parse(row.organizations),
    expiresAt: Number(row.expires_at),
    lastUsedAt: row.last_used_at === null ? null : Number(row.last_used_at),
    createdAt: Number(row.created_at),
  };
}

function writeRow(token: AdminTokenRecord) {
  return {
    id: token.id,
    hash: token.hash,
    hint: token.prefix,
    name: token.name,
    administrator_id: token.memberId,
    role: token.role,
    organizations: toColumn(token.organizations),
    expires_at: token.expiresAt,
    last_used_at: token.lastUsedAt,
    created_at: token.createdAt,
  };
}

function withoutHash({ hash: _hash, ...shown }: AdminTokenRecord): object {
  return shown;
}
