import type { SessionRecord, SessionStore } from "../../admin/member-ports.ts";
import { firstOf, type Integer } from "../database/columns.ts";
import type { Database } from "../database/sql.ts";

/** Sessions of the console; what they are by is the hash of a token. */
export function sessionStore(database: Database): SessionStore {
  return {
    async create(session) {
      const { hash, administratorId, createdAt, seenAt, address, agent } = session;
      await database.begin(
        (sql) => sql`INSERT INTO sessions (hash, administrator_id, created_at, seen_at, address, agent)
          VALUES (${hash}, ${administratorId}, ${createdAt}, ${seenAt}, ${address}, ${agent})`,
      );
    },
    async get(hash) {
      const rows = await database.read(
        (sql) => sql<SessionRow[]>`SELECT sessions.*, administrators.name FROM sessions
          JOIN administrators ON administrators.id = administrator_id WHERE hash = ${hash}`,
      );
      const row = firstOf(rows);
      return row && { ...readSession(row), administratorName: row.name };
    },
    async touch(hash, at) {
      await database.begin((sql) => sql`UPDATE sessions SET seen_at = ${at} WHERE hash = ${hash}`);
    },
    async remove(hash) {
      await database.begin((sql) => sql`DELETE FROM sessions WHERE hash = ${hash}`);
    },
  };
}

interface SessionRow {
  hash: string;
  administrator_id: string;
  created_at: Integer;
  seen_at: Integer;
  address: string;
  agent: string;
  name: string;
}

function readSession(row: SessionRow): SessionRecord {
  return {
    hash: row.hash,
    administratorId: row.administrator_id,
    createdAt: Number(row.created_at),
    seenAt: Number(row.seen_at),
    address: row.address,
    agent: row.agent,
  };
}
