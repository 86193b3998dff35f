import type { SessionRecord, SessionStore } from "../../admin/member-ports.ts";
import { firstOf, type Integer } from "../database/columns.ts";
import type { Database } from "../database/sql.ts";
import { readMemberRow, type MemberRow } from "./members.ts";

/** Sessions of the console, found by the hash of a token. */
export function sessionStore(database: Database): SessionStore {
  return {
    async create({ id, hash, memberId, createdAt, seenAt, address, agent }) {
      await database.begin(
        (sql) => sql`INSERT INTO sessions (id, hash, administrator_id, created_at, seen_at, address, agent)
          VALUES (${id}, ${hash}, ${memberId}, ${createdAt}, ${seenAt}, ${address}, ${agent})`,
      );
    },
    async get(hash) {
      const session = firstOf(
        await database.read((sql) => sql<SessionRow[]>`SELECT * FROM sessions WHERE hash = ${hash}`),
      );
      if (!session) return null;
      const member = firstOf(
        await database.read(
          (sql) => sql<MemberRow[]>`SELECT * FROM administrators WHERE id = ${session.administrator_id}`,
        ),
      );
      return member && { session: readSession(session), member: readMemberRow(member) };
    },
    async list(memberId) {
      const rows = await database.read(
        (sql) => sql<SessionRow[]>`SELECT * FROM sessions WHERE administrator_id = ${memberId}
          ORDER BY created_at DESC, id DESC`,
      );
      return rows.map(readSession);
    },
    async touch({ id, memberId }, at) {
      await database.begin(async (sql) => {
        await sql`UPDATE sessions SET seen_at = ${at} WHERE id = ${id}`;
        await sql`UPDATE administrators SET last_seen_at = ${at} WHERE id = ${memberId}`;
      });
    },
    async remove(memberId, id) {
      const rows = await database.begin(
        (sql) =>
          sql<
            object[]
          >`DELETE FROM sessions WHERE administrator_id = ${memberId} AND id = ${id} RETURNING id`,
      );
      return rows.length > 0;
    },
    async removeAll(memberId) {
      const rows = await database.begin(
        (sql) => sql<object[]>`DELETE FROM sessions WHERE administrator_id = ${memberId} RETURNING id`,
      );
      return rows.length;
    },
    async sweep({ seenBefore, createdBefore }) {
      await database.begin(
        (sql) => sql`DELETE FROM sessions WHERE seen_at < ${seenBefore} OR created_at < ${createdBefore}`,
      );
    },
  };
}

interface SessionRow {
  id: string;
  hash: string;
  administrator_id: string;
  created_at: Integer;
  seen_at: Integer;
  address: string;
  agent: string;
}

function readSession(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    hash: row.hash,
    memberId: row.administrator_id,
    createdAt: Number(row.created_at),
    seenAt: Number(row.seen_at),
    address: row.address,
    agent: row.agent,
  };
}
