import type { Claim, ClaimResult, Outcome, OutcomeStore } from "../../gateway/outcomes.ts";
import { storeTime } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { integer, json, nullable, table, text, type Column, type Row } from "../database/table.ts";

/** Time after which a claim that is not renewed counts as a claim of an ended process. */
const CLAIM_MS = 60_000;
const KEPT_MS = 24 * 60 * 60_000;
const MAX_PER_KEY = 10_000;
/**
 * Maximum bytes of an organization's bodies after a sweep. `MAX_ADDED_BYTES` limits the bytes that one process adds
 * until the next sweep.
 */
const MAX_BYTES = 1024 ** 3;
const MAX_ADDED_BYTES = MAX_BYTES / 4;
const REMOVALS_AT_ONCE = 8;

/** A column of bytes, stored as base64. */
const bytes: Column<Uint8Array<ArrayBuffer>> = {
  read: (stored) => new Uint8Array(Buffer.from(String(stored), "base64")),
  write: (value) => Buffer.from(value).toString("base64"),
};

const outcomes = table<Outcome>("stored_outcomes", {
  status: integer(),
  headers: json(),
  body: nullable(bytes),
  blob: nullable(text()),
  bytes: integer(),
});

/** Outcomes of requests with an idempotency key. All processes on the database share these outcomes. */
export function outcomeStore(database: Database): SweptOutcomes {
  const { kind } = database;
  const added = new Map<string, number>();
  const isOwn = (sql: Sql, { keyId, key, id }: Claim) =>
    sql`key_id = ${keyId} AND idempotency_key = ${key} AND claim = ${id}`;
  return {
    claim: (claim, fingerprint) =>
      database.begin(async (sql): Promise<ClaimResult> => {
        const now = storeTime(kind, sql);
        const { keyId, key, id, organizationId } = claim;
        const claimed = await sql<object[]>`
          INSERT INTO stored_outcomes (key_id, idempotency_key, fingerprint, claim, expires_at, organization_id)
          VALUES (${keyId}, ${key}, ${fingerprint}, ${id}, ${now} + ${CLAIM_MS}, ${organizationId})
          ON CONFLICT (key_id, idempotency_key) DO UPDATE SET fingerprint = excluded.fingerprint,
            claim = excluded.claim, expires_at = excluded.expires_at, organization_id = excluded.organization_id,
            status = NULL, headers = NULL, body = NULL, blob = NULL, bytes = 0
          WHERE stored_outcomes.expires_at <= ${now}
          RETURNING claim`;
        if (claimed.length > 0) return { kind: "claimed" };
        const [row] = await sql<Row[]>`
          SELECT fingerprint, ${sql.unsafe(outcomes.columns)} FROM stored_outcomes
          WHERE key_id = ${keyId} AND idempotency_key = ${key}`;
        if (row && row["fingerprint"] !== fingerprint) return { kind: "other" };
        return row && row["status"] !== null
          ? { kind: "stored", outcome: outcomes.read(row) }
          : { kind: "running" };
      }),
    renew: (claim) =>
      database.begin(async (sql) => {
        await sql`UPDATE stored_outcomes SET expires_at = ${storeTime(kind, sql)} + ${CLAIM_MS}
          WHERE ${isOwn(sql, claim)} AND status IS NULL`;
      }),
    admits(organizationId, bytes) {
      const sum = (added.get(organizationId) ?? 0) + bytes;
      if (sum > MAX_ADDED_BYTES) return false;
      added.set(organizationId, sum);
      return true;
    },
    complete: (claim, outcome) =>
      database.begin(async (sql) => {
        await sql`UPDATE stored_outcomes SET ${sql(outcomes.write(outcome))},
            expires_at = ${storeTime(kind, sql)} + ${KEPT_MS}
          WHERE ${isOwn(sql, claim)}`;
      }),
    release: (claim) =>
      database.begin(async (sql) => {
        await sql`DELETE FROM stored_outcomes WHERE ${isOwn(sql, claim)} AND status IS NULL`;
      }),
    async sweep(removeBlob) {
      const blobs = await removeOld(database);
      added.clear();
      // A blob that cannot be removed now is removed later, when its retention period ends.
      for (let from = 0; from < blobs.length; from += REMOVALS_AT_ONCE)
        await Promise.allSettled(blobs.slice(from, from + REMOVALS_AT_ONCE).map(removeBlob));
    },
  };
}

interface SweptOutcomes extends OutcomeStore {
  /**
   * Removes expired outcomes, the oldest outcomes of a key beyond `MAX_PER_KEY`, and the oldest bodies of an
   * organization beyond `MAX_BYTES`.
   */
  sweep(removeBlob: (name: string) => Promise<void>): Promise<void>;
}

/** Removes outcomes and bodies from the database. Returns the names of blobs to remove as well. */
async function removeOld(database: Database): Promise<string[]> {
  const rows = await database.begin(async (sql) => [
    ...(await removeExpired(sql, storeTime(database.kind, sql))),
    ...(await removeSurplus(sql)),
    ...(await removeBodies(sql)),
  ]);
  return rows.flatMap(({ blob }) => blob ?? []);
}

type Removed = PromiseLike<{ blob: string | null }[]>;

const removeExpired = (sql: Sql, now: ReturnType<typeof storeTime>): Removed =>
  sql`DELETE FROM stored_outcomes WHERE expires_at <= ${now} RETURNING blob`;

const removeSurplus = (sql: Sql): Removed =>
  sql`DELETE FROM stored_outcomes WHERE (key_id, idempotency_key) IN (
    SELECT key_id, idempotency_key FROM (
      SELECT key_id, idempotency_key,
        ROW_NUMBER() OVER (PARTITION BY key_id ORDER BY expires_at DESC) AS position
      FROM stored_outcomes WHERE status IS NOT NULL
    ) AS ranked WHERE position > ${MAX_PER_KEY}) RETURNING blob`;

/** Removes bodies and keeps their rows, so that repeated requests neither run nor are charged again. */
const removeBodies = (sql: Sql): Removed =>
  sql`UPDATE stored_outcomes SET body = NULL, bytes = 0 WHERE (key_id, idempotency_key) IN (
    SELECT key_id, idempotency_key FROM (
      SELECT key_id, idempotency_key, SUM(bytes) OVER (
        PARTITION BY organization_id ORDER BY expires_at DESC, key_id, idempotency_key) AS kept
      FROM stored_outcomes WHERE bytes > 0 AND organization_id IN (
        SELECT organization_id FROM stored_outcomes GROUP BY organization_id HAVING SUM(bytes) > ${MAX_BYTES})
    ) AS ranked WHERE kept > ${MAX_BYTES}) RETURNING blob`;
