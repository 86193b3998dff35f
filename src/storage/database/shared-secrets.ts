import { randomBytes } from "node:crypto";
import type { Database } from "./sql.ts";

const SECRET_BYTES = 32;

/**
 * The secrets of a purpose, shared by all processes on the database, the current one first. Made on first use;
 * processes that start together agree on one. A row with a higher `place` rotates it: it signs, the others verify.
 */
export async function sharedSecrets(database: Database, purpose: "links"): Promise<string[]> {
  const draft = randomBytes(SECRET_BYTES).toString("hex");
  return database.begin(async (sql) => {
    await sql`INSERT INTO shared_secrets (purpose, place, secret) VALUES (${purpose}, 0, ${draft})
      ON CONFLICT (purpose, place) DO NOTHING`;
    const rows = await sql<{ secret: string }[]>`
      SELECT secret FROM shared_secrets WHERE purpose = ${purpose} ORDER BY place DESC`;
    return rows.map(({ secret }) => secret);
  });
}
