import type { AuditAction, ChangeKind } from "../../admin/audit/schema.ts";
import type { AuditStore } from "../../admin/audit/store-port.ts";
import type { Integer } from "../database/expressions.ts";
import { audit, hashOf, verifyAudit } from "./audit-chain.ts";
import type { Database, Sql } from "../database/sql.ts";
import type { Actor } from "../../admin/actor.ts";
import type { Row } from "../database/table.ts";
import { ofOrganizations } from "./list-page.ts";
import { systemClock } from "../../lib/clock.ts";

/** The author, kind and row of one administrative change. */
interface AuditedChange {
  by: Actor;
  kind: ChangeKind;
  action: AuditAction;
  subject: string;
}

/** The row before and after the change, without secrets and hashes; null when the row does not exist. */
interface Effect {
  before: object | null;
  after: object | null;
  /** The organization that the change concerns; given when neither row contains its id. */
  organizationId?: string | null;
}

/**
 * Makes a change in one transaction, with the next revision and an audit row. `work` gets the revision for the changed
 * row, and returns null when there was nothing to change. Returns true when something was changed.
 */
export async function makeChange(
  database: Database,
  change: AuditedChange,
  work: (sql: Sql, revision: bigint) => Promise<Effect | null>,
): Promise<boolean> {
  return await database.begin(async (sql) => {
    const { revision, head } = await nextRevision(sql);
    const effect = await work(sql, revision);
    if (!effect) return false;
    const row = audit.write({
      revision,
      at: systemClock.now(),
      actor: change.by.actor,
      source: change.by.source ?? null,
      kind: change.kind,
      action: change.action,
      subject: change.subject,
      organizationId: organizationOf(change, effect),
      before: effect.before,
      after: effect.after,
    });
    const previous = head ?? "";
    const hash = hashOf(previous, row);
    await sql`INSERT INTO audit ${sql({ ...row, previous_hash: previous, hash })}`;
    await sql`UPDATE revision SET audit_head = ${hash}`;
    return true;
  });
}

/** Returns a row for the audit, without its version: the audit has the revision of each change. */
export function withoutVersion<Row extends { version: number }>({
  version: _version,
  ...row
}: Row): Omit<Row, "version"> {
  return row;
}

/** Returns the organization whose row a change concerns; null for the installation. */
function organizationOf(
  { kind, subject }: AuditedChange,
  { before, after, organizationId }: Effect,
): string | null {
  if (kind === "organization") return subject;
  const named: { organizationId?: string | null } = { ...before, ...after };
  return organizationId ?? named.organizationId ?? null;
}

/** Returns the last committed revision. */
export async function currentRevision(database: Database): Promise<bigint> {
  const rows = await database.read((sql) => sql<{ value: Integer }[]>`SELECT value FROM revision`);
  return BigInt(rows[0]?.value ?? 0);
}

/**
 * Returns the next revision and the hash of the last audit row. The lock of the revision row lasts until the
 * transaction ends. So revisions become visible in order, and no two audit rows have the same predecessor.
 */
async function nextRevision(sql: Sql): Promise<{ revision: bigint; head: string | null }> {
  const rows = await sql<{ value: Integer; audit_head: string | null }[]>`
    UPDATE revision SET value = value + 1 RETURNING value, audit_head`;
  return { revision: BigInt(rows[0]?.value ?? 0), head: rows[0]?.audit_head ?? null };
}

export function auditStore(database: Database): AuditStore {
  return {
    async note({ detail, organizationId, ...change }) {
      await makeChange(database, change, async () => ({ before: null, after: detail, organizationId }));
    },
    async list({ subject, organizationIds, kind, action, actor, from, to, before, limit }) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM audit WHERE 1 = 1
          ${subject === undefined ? sql`` : sql`AND subject = ${subject}`}
          ${ofOrganizations(sql, { organizationIds })}
          ${kind === undefined ? sql`` : sql`AND kind = ${kind}`}
          ${action === undefined ? sql`` : sql`AND action = ${action}`}
          ${actor === undefined ? sql`` : sql`AND actor = ${actor}`}
          ${from === undefined ? sql`` : sql`AND at >= ${from}`}
          ${to === undefined ? sql`` : sql`AND at < ${to}`}
          ${before === undefined ? sql`` : sql`AND revision < ${before}`}
          ORDER BY revision DESC LIMIT ${limit}`,
      );
      return rows.map(audit.read);
    },
    verify: (knownHead) => verifyAudit(database, knownHead),
  };
}
