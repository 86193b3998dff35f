import type { Claim, ClaimResult, Outcome, OutcomeStore } from "../../gateway/ports.ts";
import { storeTime } from "../budgets/locked-budgets.ts";
import type { Integer } from "../database/columns.ts";
import type { Database } from "../database/sql.ts";

/** A claim that is not renewed for so long belongs to a process that has ended. */
const CLAIM_MS = 60_000;
const KEPT_MS = 24 * 60 * 60_000;
const MAX_PER_KEY = 10_000;

/** Outcomes of requests with an idempotency key, shared by all processes on the database. */
export function outcomeStore(database: Database): OutcomeStore & { sweep(): Promise<void> } {
  const { kind } = database;
  const isOwn = (sql: Parameters<Parameters<Database["begin"]>[0]>[0], { keyId, key, id }: Claim) =>
    sql`key_id = ${keyId} AND idempotency_key = ${key} AND claim = ${id}`;
  return {
    claim: (claim, fingerprint) =>
      database.begin(async (sql): Promise<ClaimResult> => {
        const now = storeTime(kind, sql);
        const { keyId, key, id } = claim;
        const claimed = await sql<object[]>`
          INSERT INTO stored_outcomes (key_id, idempotency_key, fingerprint, claim, expires_at)
          VALUES (${keyId}, ${key}, ${fingerprint}, ${id}, ${now} + ${CLAIM_MS})
          ON CONFLICT (key_id, idempotency_key) DO UPDATE SET fingerprint = excluded.fingerprint,
            claim = excluded.claim, expires_at = excluded.expires_at,
            status = NULL, headers = NULL, body = NULL, blob = NULL
          WHERE stored_outcomes.expires_at <= ${now}
          RETURNING claim`;
        if (claimed.length > 0) return { kind: "claimed" };
        const rows = await sql<OutcomeRow[]>`
          SELECT fingerprint, status, headers, body, blob FROM stored_outcomes
          WHERE key_id = ${keyId} AND idempotency_key = ${key}`;
        const [row] = rows;
        if (row && row.fingerprint !== fingerprint) return { kind: "other" };
        return row && row.status !== null
          ? { kind: "stored", outcome: readOutcome(row) }
          : { kind: "running" };
      }),
    renew: (claim) =>
      database.begin(async (sql) => {
        await sql`UPDATE stored_outcomes SET expires_at = ${storeTime(kind, sql)} + ${CLAIM_MS}
          WHERE ${isOwn(sql, claim)} AND status IS NULL`;
      }),
    complete: (claim, { status, headers, body, blob }) =>
      database.begin(async (sql) => {
        await sql`UPDATE stored_outcomes SET status = ${status}, headers = ${JSON.stringify(headers)},
            body = ${body && Buffer.from(body).toString("base64")}, blob = ${blob},
            expires_at = ${storeTime(kind, sql)} + ${KEPT_MS}
          WHERE ${isOwn(sql, claim)}`;
      }),
    release: (claim) =>
      database.begin(async (sql) => {
        await sql`DELETE FROM stored_outcomes WHERE ${isOwn(sql, claim)} AND status IS NULL`;
      }),
    sweep: () =>
      database.begin(async (sql) => {
        await sql`DELETE FROM stored_outcomes WHERE expires_at <= ${storeTime(kind, sql)}`;
        await sql`DELETE FROM stored_outcomes WHERE (key_id, idempotency_key) IN (
          SELECT key_id, idempotency_key FROM (
            SELECT key_id, idempotency_key,
              ROW_NUMBER() OVER (PARTITION BY key_id ORDER BY expires_at DESC) AS position
            FROM stored_outcomes WHERE status IS NOT NULL
          ) AS ranked WHERE position > ${MAX_PER_KEY})`;
      }),
  };
}

interface OutcomeRow {
  fingerprint: string;
  status: Integer | null;
  headers: string | null;
  body: string | null;
  blob: string | null;
}

/** The columns were written by `complete`. */
function readOutcome({ status, headers, body, blob }: OutcomeRow): Outcome {
  return {
    status: Number(status),
    headers: JSON.parse(headers ?? "{}") as Record<string, string>,
    body: body === null ? null : new Uint8Array(Buffer.from(body, "base64")),
    blob,
  };
}
