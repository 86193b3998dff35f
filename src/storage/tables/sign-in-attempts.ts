import type { SignInAttemptStore } from "../../admin/member-ports.ts";
import type { Integer } from "../database/columns.ts";
import type { Database } from "../database/sql.ts";

/** Counts of sign-ins; one statement counts and reads, so concurrent ones are all counted. */
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
