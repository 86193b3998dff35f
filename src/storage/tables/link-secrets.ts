import { randomBytes } from "node:crypto";
import type { LinkSecretStore } from "../../admin/admin-store.ts";
import { systemClock, type Clock } from "../../lib/clock.ts";
import type { Database, Sql } from "../database/sql.ts";
import type { Integer } from "../database/expressions.ts";
import { makeChange } from "./change.ts";

const SECRET_BYTES = 32;
/**
 * Maximum lifetime of a link, as in the schema of `blobs.link_hours`. If a secret was replaced longer ago than this,
 * all its links have expired.
 */
const MAX_LINK_MS = 168 * 60 * 60 * 1000;

/** Time within which all other processes notice a rotation. */
const SPREAD_MS = 2_000;

/**
 * The link secrets in one process. The column `place` orders them. For every secret except the first, `place` is the
 * time of creation in Unix milliseconds.
 */
interface LinkSecrets {
  /** Returns the secrets in force: the first one signs links, and all of them verify links. */
  current(): readonly string[];
  /** Reads the secrets again after a rotation. The previous secret signs until all processes know the new secret. */
  reload(): Promise<void>;
}

/** Opens the secrets, and makes the first one if there is none. Processes that start together agree on one secret. */
export async function openLinkSecrets(database: Database, clock: Clock = systemClock): Promise<LinkSecrets> {
  let secrets = await database.begin(async (sql) => {
    await sql`INSERT INTO shared_secrets (purpose, place, secret) 
      SELECT 'links', 0, CAST(${newSecret()} AS TEXT)
      WHERE NOT EXISTS (SELECT 1 FROM shared_secrets WHERE purpose = 'links')
      ON CONFLICT (purpose, place) DO NOTHING`;
    return await newestFirst(sql);
  });
  let previous: string | undefined;
  let isSpreadAt = 0;
  const current = () => {
    const isSpread = clock.monotonic() >= isSpreadAt;
    if (isSpread || previous === undefined || !secrets.includes(previous)) return secrets;
    return [previous, ...secrets];
  };
  return {
    current,
    async reload() {
      const [signing] = current();
      secrets = await database.read(newestFirst);
      previous = signing;
      isSpreadAt = clock.monotonic() + SPREAD_MS;
    },
  };
}

/** Rotation of the link secrets. The audit records each rotation, but no secret. */
export function linkSecretStore(database: Database): LinkSecretStore {
  return {
    async rotate({ at, keepsOld }, by) {
      let kept = 0;
      const change = { by, kind: "link secret", action: "rotate", subject: "links" } as const;
      await makeChange(database, change, async (sql) => {
        const rows = await sql<{ createdAt: Integer }[]>`
          SELECT place AS "createdAt" FROM shared_secrets WHERE purpose = 'links' ORDER BY place DESC`;
        const older = rows.map(({ createdAt }) => Number(createdAt));
        const createdAt = Math.max(at, (older[0] ?? 0) + 1);
        await sql`INSERT INTO shared_secrets (purpose, place, secret) VALUES ('links', ${createdAt}, ${newSecret()})`;
        // A secret was replaced at the time when the next secret was created.
        const isValid = (index: number) => keepsOld && (older[index - 1] ?? createdAt) > at - MAX_LINK_MS;
        const removed = older.filter((_, index) => !isValid(index));
        for (const each of removed)
          await sql`DELETE FROM shared_secrets WHERE purpose = 'links' AND place = ${each}`;
        kept = older.length - removed.length;
        return { before: { secrets: older.length }, after: { secrets: kept + 1 } };
      });
      return { kept };
    },
  };
}

async function newestFirst(sql: Sql): Promise<string[]> {
  const rows = await sql<{ secret: string }[]>`
    SELECT secret FROM shared_secrets WHERE purpose = 'links' ORDER BY place DESC`;
  return rows.map(({ secret }) => secret);
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("hex");
}
