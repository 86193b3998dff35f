import type { SessionRecord } from "../../admin/members/schema.ts";
import type { SessionStore, SignInAttemptStore } from "../../admin/members/store-port.ts";
import type { Database } from "../database/sql.ts";
import { named, table, text, time, type Row } from "../database/table.ts";
import { findMember } from "./members.ts";
import type { Integer } from "../database/expressions.ts";

const sessions = table<SessionRecord>("sessions", {
  id: text(),
  hash: text(),
  memberId: named("administrator_id", text()),
  createdAt: time(),
  seenAt: time(),
  address: text(),
  agent: text(),
});

/** Sessions of the console, found by the hash of a token. */
export function sessionStore(database: Database): SessionStore {
  return {
    async create(session) {
      await database.begin((sql) => sql`INSERT INTO sessions ${sql(sessions.write(session))}`);
    },
    async get(hash) {
      const session = sessions.first(
        await database.read((sql) => sql<Row[]>`SELECT * FROM sessions WHERE hash = ${hash}`),
      );
      const member = session && (await findMember(database, session.memberId));
      return member && { session, member };
    },
    async list(memberId) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM sessions WHERE administrator_id = ${memberId}
          ORDER BY created_at DESC, id DESC`,
      );
      return rows.map(sessions.read);
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

/** Counts of sign-in attempts. One statement counts and reads, so that concurrent attempts are all counted. */
export function signInAttemptStore(database: Database): SignInAttemptStore {
  return {
    async count(subject, now, windowMs) {
      const [row] = await database.begin(
        (sql) => sql<{ count: Integer; ends_at: Integer }[]>`
          INSERT INTO sign_in_attempts (subject, count, ends_at) VALUES (${subject}, 1, ${now + windowMs})
          ON CONFLICT (subject) DO UPDATE SET
            count = CASE WHEN sign_in_attempts.ends_at <= ${now} THEN 1 ELSE sign_in_attempts.count + 1 END,
            ends_at = CASE WHEN sign_in_attempts.ends_at <= ${now} THEN excluded.ends_at
              ELSE sign_in_attempts.ends_at END
          RETURNING count, ends_at`,
      );
      return { count: Number(row?.count), endsAt: Number(row?.ends_at) };
    },
    async forgive(subject) {
      await database.begin(
        (sql) => sql`UPDATE sign_in_attempts SET count = count - 1 WHERE subject = ${subject} AND count > 0`,
      );
    },
    async reset(subject) {
      await database.begin((sql) => sql`DELETE FROM sign_in_attempts WHERE subject = ${subject}`);
    },
    async sweep(endedBefore) {
      await database.begin((sql) => sql`DELETE FROM sign_in_attempts WHERE ends_at < ${endedBefore}`);
    },
  };
}
