import type { WebhookDelivery, WebhookEndpoint, WebhookStore } from "../../admin/webhook-ports.ts";
import { storeTime } from "../budgets/locked-budgets.ts";
import type { Integer } from "../database/columns.ts";
import type { Database } from "../database/sql.ts";
import { makeChange } from "./change.ts";
import { ofOrganizations, pageBelow } from "./list-page.ts";

/** Administration of webhooks. The audit records what was done, never a secret. */
export function webhookStore(database: Database): WebhookStore {
  const { kind } = database;
  return {
    async add({ id, organizationId, url, secret, createdAt }, by) {
      const change = { by, kind: "webhook", action: "create", subject: id } as const;
      await makeChange(database, change, async (sql, revision) => {
        await sql`INSERT INTO webhook_endpoints (id, organization_id, url, secret, created_at, revision)
          VALUES (${id}, ${organizationId}, ${url}, ${secret}, ${createdAt}, ${revision})`;
        return { before: null, after: { id, organizationId, url } };
      });
    },
    async list(organizationId) {
      const rows = await database.read(
        (sql) => sql<EndpointRow[]>`SELECT id, organization_id, url, created_at FROM webhook_endpoints
          ${organizationId === undefined ? sql`` : sql`WHERE organization_id = ${organizationId}`}
          ORDER BY created_at, id`,
      );
      return rows.map(readEndpoint);
    },
    remove: (id, by) =>
      makeChange(database, { by, kind: "webhook", action: "remove", subject: id }, async (sql) => {
        const [row] = await sql<EndpointRow[]>`DELETE FROM webhook_endpoints WHERE id = ${id}
          RETURNING id, organization_id, url, created_at`;
        return row ? { before: readEndpoint(row), after: null } : null;
      }),
    rotate: (...rotation) => rotate(database, ...rotation),
    async deliveries({ organizationId, organizationIds, jobId, status, ...page }) {
      const rows = await database.read(
        (sql) => sql<
          DeliveryRow[]
        >`SELECT id, organization_id, job_id, event, url, status, attempts, next_at, created_at,
            ended_at, last_result FROM webhook_deliveries WHERE 1 = 1
          ${ofOrganizations(sql, { organizationId, organizationIds })}
          ${jobId === undefined ? sql`` : sql`AND job_id = ${jobId}`}
          ${status === undefined ? sql`` : sql`AND status = ${status}`}
          ${pageBelow(sql, page)}`,
      );
      return rows.map(readDelivery);
    },
    redeliver: (id, by, organizationIds) =>
      makeChange(database, { by, kind: "webhook", action: "redeliver", subject: id }, async (sql) => {
        const rows = await sql<
          { organization_id: string }[]
        >`UPDATE webhook_deliveries SET status = 'waiting', attempts = 0, ended_at = NULL,
            next_at = ${storeTime(kind, sql)} WHERE id = ${id}
            ${ofOrganizations(sql, { organizationIds })}
          RETURNING id, organization_id`;
        const [row] = rows;
        return row ? { before: null, after: { id }, organizationId: row.organization_id } : null;
      }),
  };
}

function rotate(
  database: Database,
  ...[id, secret, overlapMs, by]: Parameters<WebhookStore["rotate"]>
): Promise<boolean> {
  return makeChange(
    database,
    { by, kind: "webhook", action: "rotate", subject: id },
    async (sql, revision) => {
      const rows = await sql<
        { organization_id: string }[]
      >`UPDATE webhook_endpoints SET previous_secret = secret, secret = ${secret},
            previous_until = ${storeTime(database.kind, sql)} + ${overlapMs}, revision = ${revision}
          WHERE id = ${id} RETURNING id, organization_id`;
      const [row] = rows;
      return row ? { before: { id }, after: { id, overlapMs }, organizationId: row.organization_id } : null;
    },
  );
}

interface EndpointRow {
  id: string;
  organization_id: string;
  url: string | null;
  created_at: Integer;
}

function readEndpoint({ id, organization_id, url, created_at }: EndpointRow): WebhookEndpoint {
  return { id, organizationId: organization_id, url, createdAt: Number(created_at) };
}

interface DeliveryRow {
  id: string;
  organization_id: string;
  job_id: string;
  event: string;
  url: string;
  status: WebhookDelivery["status"];
  attempts: Integer;
  next_at: Integer;
  created_at: Integer;
  ended_at: Integer | null;
  last_result: string | null;
}

function readDelivery(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    organizationId: row.organization_id,
    jobId: row.job_id,
    event: row.event,
    url: row.url,
    status: row.status,
    attempts: Number(row.attempts),
    nextAt: row.status === "waiting" ? Number(row.next_at) : null,
    createdAt: Number(row.created_at),
    endedAt: row.ended_at === null ? null : Number(row.ended_at),
    lastResult: row.last_result,
  };
}
