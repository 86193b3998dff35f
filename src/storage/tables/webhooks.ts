import type { WebhookStore } from "../../admin/webhooks/store-port.ts";
import { storeTime } from "../database/expressions.ts";
import type { Database } from "../database/sql.ts";
import { emptyAsNull, json, nullable, table, text, time, type Row } from "../database/table.ts";
import { DELIVERY } from "../jobs/webhooks.ts";
import { makeChange } from "./change.ts";
import { ofOrganizations, pageBelow } from "./list-page.ts";
import type { WebhookDelivery, WebhookEndpoint } from "../../admin/webhooks/schema.ts";

const endpoints = table<WebhookEndpoint>("webhook_endpoints", {
  id: text(),
  organizationId: emptyAsNull(),
  format: text(),
  url: nullable(text()),
  createdAt: time(),
});

const deliveries = table<WebhookDelivery>("webhook_deliveries", {
  ...DELIVERY,
  organizationId: emptyAsNull(),
  event: text(),
  status: text(),
  nextAt: nullable(time()),
  endedAt: nullable(time()),
  lastResult: nullable(text()),
  resultCode: nullable(text()),
  resultFigures: json(),
});

/** Administration of webhooks. The audit records each action, but no secret. */
export function webhookStore(database: Database): WebhookStore {
  const { kind } = database;
  return {
    async add({ secret, ...endpoint }, by) {
      const { id, organizationId, format, url } = endpoint;
      const change = { by, kind: "webhook", action: "create", subject: id } as const;
      await makeChange(database, change, async (sql, revision) => {
        await sql`INSERT INTO webhook_endpoints ${sql({ ...endpoints.write(endpoint), secret, revision })}`;
        return { before: null, after: { id, organizationId, format, url } };
      });
    },
    async list(organizationId) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT ${sql.unsafe(endpoints.columns)} FROM webhook_endpoints
          ${organizationId === undefined ? sql`` : sql`WHERE organization_id = ${organizationId ?? ""}`}
          ORDER BY created_at, id`,
      );
      return rows.map(endpoints.read);
    },
    remove: (id, by) =>
      makeChange(database, { by, kind: "webhook", action: "remove", subject: id }, async (sql) => {
        const before = endpoints.first(
          await sql<Row[]>`DELETE FROM webhook_endpoints WHERE id = ${id}
            RETURNING ${sql.unsafe(endpoints.columns)}`,
        );
        return before && { before, after: null };
      }),
    rotate: (...rotation) => rotate(database, ...rotation),
    async deliveries({ organizationId, organizationIds, jobId, status, ...page }) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT ${sql.unsafe(deliveries.columns)} FROM webhook_deliveries WHERE 1 = 1
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
        return row ? { before: null, after: { id }, organizationId: row.organization_id || null } : null;
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
          WHERE id = ${id} AND format = 'standard' RETURNING id, organization_id`;
      const [row] = rows;
      return row
        ? { before: { id }, after: { id, overlapMs }, organizationId: row.organization_id || null }
        : null;
    },
  );
}

/**
 * Reads the next attempt only for waiting messages: for ended messages, the column is left over from the last attempt.
 */
function readDelivery(row: Row): WebhookDelivery {
  const delivery = deliveries.read(row);
  return delivery.status === "waiting" ? delivery : { ...delivery, nextAt: null };
}
