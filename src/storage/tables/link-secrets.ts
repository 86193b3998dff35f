import { randomBytes } from "node:crypto";
import type { LinkSecretStore } from "../../admin/admin-store.ts";
import { systemClock, type Clock } from "../../lib/clock.ts";
import type { Database, Sql } from "../database/sql.ts";
import type { Integer } from "../database/expressions.ts";
import { makeChange } from "./change.ts";

const SECRET_BYTES = 32;
/** At least the longest `blobs.link_hours`: a secret that was replaced longer ago has no valid link left. */
const MAX_LINK_MS = 168 * 60 * 60 * 1000;

/** Time in which all other processes notice a rotation. */
const SPREAD_MS = 2_000;

/**
 * The secrets of links in one process. The column `place` orders them; of every secret but the first it is the Unix
 * time of its creation in milliseconds.
 */
interface LinkSecrets {
  /** At this moment: the first signs, all of them verify. */
  current(): readonly string[];
  /** Reads them again, after a rotation. The previous one signs on until every process verifies the new one. */
  reload(): Promise<void>;
}

/** Makes the first secret, unless there is one; processes that start together agree on one. */
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

/** Rotation of these secrets. The audit records that it happened, never a secret. */
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
        // A secret was replaced when its successor was created.
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
