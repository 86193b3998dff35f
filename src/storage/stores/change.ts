import type { Actor, AuditAction, ChangeKind } from "../../admin/ports.ts";
import { toNullableColumn, type Integer } from "../database/columns.ts";
import type { Database, Sql } from "../database/sql.ts";

/** One administrative change: who does what to which row. */
export interface Change {
  by: Actor;
  kind: ChangeKind;
  action: AuditAction;
  subject: string;
}

/** The row before and after, without secrets and hashes; null is absent. */
interface Effect {
  before: object | null;
  after: object | null;
}

/**
 * Makes a change in one transaction with the next revision and its audit row. `work` stamps its row with the
 * revision it is given, and returns null when there was nothing to change. Returns whether there was.
 */
export async function makeChange(
  database: Database,
  change: Change,
  work: (sql: Sql, revision: bigint) => Promise<Effect | null>,
): Promise<boolean> {
  return await database.begin(async (sql) => {
    const revision = await nextRevision(sql);
    const effect = await work(sql, revision);
    if (!effect) return false;
    await sql`INSERT INTO audit (revision, at, actor, kind, action, subject, before_change, after_change)
      VALUES (${revision}, ${Date.now()}, ${change.by.actor}, ${change.kind}, ${change.action}, ${change.subject},
        ${toNullableColumn(effect.before)}, ${toNullableColumn(effect.after)})`;
    return true;
  });
}

/** The last committed revision. */
export async function currentRevision(database: Database): Promise<bigint> {
  const rows = await database.read((sql) => sql<{ value: Integer }[]>`SELECT value FROM revision`);
  return BigInt(rows[0]?.value ?? 0);
}

/** The row's lock lasts until the transaction ends, so revisions become visible in their order. */
async function nextRevision(sql: Sql): Promise<bigint> {
  const rows = await sql<{ value: Integer }[]>`UPDATE revision SET value = value + 1 RETURNING value`;
  return BigInt(rows[0]?.value ?? 0);
}
