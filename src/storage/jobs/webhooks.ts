import type { JobStatus } from "../../domain/job.ts";
import type { AlertData, WebhookFormat, WebhookMessageType } from "../../domain/webhook-message.table.ts";
import type { DueWebhook, WebhookQueue } from "../../jobs/webhook-ports.ts";
import { newId } from "../../lib/ids.ts";
import { storeTime, toColumn } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { integer, json, nullable, table, text, time, type Columns, type Row } from "../database/table.ts";
import { jobColumns, readJob } from "./job-row.ts";

/** Columns of a message that its sender and administration need. */
export const DELIVERY: Columns<Delivery> = {
  id: text(),
  organizationId: text(),
  jobId: text(),
  event: text(),
  url: text(),
  attempts: integer(),
  createdAt: time(),
};

interface Delivery {
  id: string;
  organizationId: string;
  jobId: string;
  event: WebhookMessageType;
  url: string;
  attempts: number;
  createdAt: number;
}

interface DueDelivery extends Delivery {
  endpointId: string;
  content: AlertData | null;
}

const dueDeliveries = table<DueDelivery>("webhook_deliveries", {
  ...DELIVERY,
  endpointId: text(),
  content: nullable(json()),
});

/** Time that a sender has for one attempt, before another sender may try. */
const ATTEMPT_MS = 60_000;

/**
 * Maximum number of messages of one organization that one call takes from the queue. So slow receivers of one
 * organization do not delay the messages of other organizations.
 */
const AT_ONCE_PER_ORGANIZATION = 4;

/** Writes the messages about a job's end, in the transaction that ends it. */
export async function announceEnd(
  kind: Database["kind"],
  sql: Sql,
  job: { id: string; organizationId: string; status: JobStatus },
): Promise<void> {
  const endpoints = await sql<{ id: string; url: string | null }[]>`
    SELECT id, url FROM webhook_endpoints WHERE organization_id = ${job.organizationId} AND format = 'standard'`;
  if (endpoints.length === 0) return;
  const [own] = await sql<{ url: string | null }[]>`SELECT webhook_url AS url FROM jobs WHERE id = ${job.id}`;
  for (const endpoint of endpoints) {
    const url = endpoint.url ?? own?.url ?? null;
    if (url === null) continue;
    await sql`INSERT INTO webhook_deliveries (id, endpoint_id, organization_id, job_id, event, url, status, attempts,
        next_at, created_at)
      VALUES (${newId("msg")}, ${endpoint.id}, ${job.organizationId}, ${job.id}, ${`job.${job.status}`}, ${url},
        'waiting', 0, ${storeTime(kind, sql)}, ${storeTime(kind, sql)})`;
  }
}

/** The messages that wait to be sent. */
export function webhookQueue(database: Database): WebhookQueue {
  const { kind } = database;
  return {
    async isSigned(organizationId) {
      const rows = await database.read(
        (sql) => sql<object[]>`SELECT id FROM webhook_endpoints
          WHERE organization_id = ${organizationId} AND url IS NULL`,
      );
      return rows.length > 0;
    },
    async due(limit) {
      const isDue = await database.read(
        (sql) => sql<object[]>`SELECT id FROM webhook_deliveries
          WHERE status = 'waiting' AND next_at <= (SELECT ${storeTime(kind, sql)}) LIMIT 1`,
      );
      if (isDue.length === 0) return [];
      return await database.begin((sql) => takeDue(kind, sql, limit));
    },
    delivered: (id, result) =>
      database.begin(async (sql) => {
        await sql`UPDATE webhook_deliveries SET status = 'delivered', last_result = ${result.message},
          result_code = ${result.code}, result_figures = ${toColumn(result.figures)}, ended_at = ${storeTime(kind, sql)} WHERE id = ${id}`;
      }),
    failed: (id, result, retryMs) =>
      database.begin(async (sql) => {
        const now = storeTime(kind, sql);
        if (retryMs === null)
          await sql`UPDATE webhook_deliveries SET status = 'failed', last_result = ${result.message},
            result_code = ${result.code}, result_figures = ${toColumn(result.figures)}, ended_at = ${now}
            WHERE id = ${id} AND status = 'waiting'`;
        else
          await sql`UPDATE webhook_deliveries SET next_at = ${now} + ${retryMs}, last_result = ${result.message},
            result_code = ${result.code}, result_figures = ${toColumn(result.figures)}
            WHERE id = ${id} AND status = 'waiting'`;
      }),
    remove: (retentionMs, limit) =>
      database.begin(async (sql) => {
        const rows = await sql<object[]>`DELETE FROM webhook_deliveries WHERE id IN (
          SELECT id FROM webhook_deliveries
          WHERE created_at < (SELECT ${storeTime(kind, sql)}) - ${retentionMs} AND status <> 'waiting'
          ORDER BY created_at LIMIT ${limit}) RETURNING id`;
        return rows.length;
      }),
  };
}

async function takeDue(kind: Database["kind"], sql: Sql, limit: number): Promise<DueWebhook[]> {
  const skipLocked = kind === "postgres" ? sql`FOR UPDATE OF due SKIP LOCKED` : sql``;
  const now = storeTime(kind, sql);
  const isDue = sql`status = 'waiting' AND next_at <= (SELECT ${now})`;
  const rows = await sql<Row[]>`UPDATE webhook_deliveries
    SET next_at = ${now} + ${ATTEMPT_MS}, attempts = attempts + 1
    WHERE id IN (SELECT due.id FROM webhook_deliveries AS due
      JOIN (SELECT id AS ranked_id, ROW_NUMBER() OVER (PARTITION BY organization_id ORDER BY next_at) AS turn
        FROM webhook_deliveries WHERE ${isDue}) AS ranked ON ranked_id = due.id
      WHERE turn <= ${AT_ONCE_PER_ORGANIZATION} AND ${isDue}
      ORDER BY turn, next_at LIMIT ${limit} ${skipLocked})
    RETURNING ${sql.unsafe(dueDeliveries.columns)}`;
  const due: DueWebhook[] = [];
  for (const row of rows) due.push(await withContent(kind, sql, dueDeliveries.read(row)));
  return due;
}

async function withContent(kind: Database["kind"], sql: Sql, delivery: DueDelivery): Promise<DueWebhook> {
  const [job] = await sql<(Row & { link_base: string | null })[]>`
    SELECT link_base, ${jobColumns(kind, sql)} FROM jobs WHERE id = ${delivery.jobId}`;
  const [endpoint] = await sql<EndpointRow[]>`
    SELECT secret, format, url, CASE WHEN previous_until > ${storeTime(kind, sql)} THEN previous_secret END AS previous_secret
    FROM webhook_endpoints WHERE id = ${delivery.endpointId}`;
  const secrets = endpoint ? [endpoint.secret, endpoint.previous_secret] : [];
  const { id, event, url, attempts, organizationId, content, createdAt } = delivery;
  return {
    id,
    event,
    url,
    attempts,
    organizationId,
    job: job ? readJob(job) : null,
    linkBase: job?.link_base ?? null,
    content: content === null ? null : { data: content, at: createdAt },
    format: endpoint?.format ?? "standard",
    isOfEndpoint: endpoint !== undefined && endpoint.url !== null,
    secrets: secrets.filter((secret) => secret !== null),
  };
}

interface EndpointRow {
  secret: string;
  previous_secret: string | null;
  format: WebhookFormat;
  url: string | null;
}
