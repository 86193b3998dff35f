import { Database } from "bun:sqlite";
import { copyFile, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestGateway, TEST_PASSWORD } from "./gateway.ts";

/**
 * Creates the database of a gateway whose first start ended before it created a key. Most gateways of `npm test` start
 * with a copy, in three quarters of the processor time. The password's hash is one that takes almost no time to check.
 */
export async function createStartedDatabase(path: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "started-"));
  {
    await using gateway = await startTestGateway({ env: { GATEWAY_DATA_DIR: folder } });
    await gateway.stop();
  }
  const file = join(folder, "gateway.sqlite");
  const cheap = { algorithm: "argon2id", memoryCost: 8, timeCost: 1 } as const;
  const hash = await Bun.password.hash(TEST_PASSWORD, cheap);
  {
    using database = new Database(file, { strict: true });
    database.run("UPDATE administrators SET password_hash = ?", [hash]);
    for (const table of ["api_keys", "shared_secrets", "journal_marks"]) database.run(`DELETE FROM ${table}`);
    database.run("DELETE FROM audit WHERE kind = 'key'");
    database.run(
      "UPDATE revision SET (value, audit_head) = (SELECT revision, hash FROM audit ORDER BY revision DESC LIMIT 1)",
    );
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  // Another run may still use the old file, so the new file replaces it by a rename.
  await copyFile(file, `${path}.new`);
  await rename(`${path}.new`, path);
  await rm(folder, { recursive: true });
}
