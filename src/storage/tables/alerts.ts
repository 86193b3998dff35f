import type { AlertAdminStore, Undelivered } from "../../admin/alerts/store-port.ts";
import { definedFields, type Integer, padded, storeTime } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import {
  bit,
  emptyAsNull,
  integer,
  json,
  named,
  nullable,
  table,
  text,
  time,
  type Row,
} from "../database/table.ts";
import { resolveIncidents } from "./alert-messages.ts";
import { makeChange, withoutVersion } from "./change.ts";
import { ofOrganizations, pageBelow, pageOf } from "./list-page.ts";
import type { AlertNotice, AlertRecord } from "../../admin/alerts/schema.ts";
import type { AlertEvent } from "../../domain/alert.ts";

export const alerts = table<AlertRecord>("alerts", {
  id: text(),
  organizationId: emptyAsNull(),
  name: text(),
  settings: json(),
  emails: json(),
  usesWebhooks: bit(),
  isDisabled: bit(),
  createdAt: time(),
  version: named("revision", integer()),
});

/** Events of rules. The column `condition`, which is no field of an event, distinguishes the events of one rule. */
export const alertEvents = table<AlertEvent>("alert_events", {
  id: text(),
  alertId: text(),
  organizationId: emptyAsNull(),
  alertName: text(),
  kind: text(),
  severity: text(),
  subject: text(),
  message: text(),
  code: named("message_code", nullable(text())),
  figures: json(),
  firedAt: time(),
  resolvedAt: nullable(time()),
  endReason: nullable(text()),
});

const ejected = table<Awaited<ReturnType<AlertAdminStore["ejections"]>>[number]>("ejected_targets", {
  target: text(),
  organizationId: emptyAsNull(),
  reason: text(),
  since: time(),
});

const eventNotices = table<AlertNotice & { eventId: string }>("notices", {
  eventId: text(),
  way: text(),
  to: named("address", text()),
  status: text(),
  attempts: integer(),
  result: named("last_result", nullable(text())),
  resultCode: nullable(text()),
  resultFigures: json(),
});

/** Rules of alerts and their events, for administration. */
export function alertAdminStore(database: Database): AlertAdminStore {
  return {
    async create(rule, by) {
      const change = { by, kind: "alert", action: "create", subject: rule.id } as const;
      let version = 0;
      await makeChange(database, change, async (sql, revision) => {
        version = Number(revision);
        await sql`INSERT INTO alerts ${sql(alerts.write({ ...rule, version }))}`;
        return { before: null, after: rule };
      });
      return { ...rule, version };
    },
    get: (id) => database.read((sql) => findAlert(sql, id)),
    async page({ organizationId, organizationIds, ...page }) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM alerts WHERE 1 = 1
          ${ofOrganizations(sql, { organizationId, organizationIds })}
          ${pageOf(sql, page)}`,
      );
      return rows.map(alerts.read);
    },
    async update(id, change, by) {
      let after: AlertRecord | null = null;
      const audited = { by, kind: "alert", action: "update", subject: id } as const;
      await makeChange(database, audited, async (sql, revision) => {
        const before = await findAlert(sql, id);
        if (!before) return null;
        after = { ...before, ...definedFields(change(before)), version: Number(revision) };
        await sql`UPDATE alerts SET ${sql(alerts.write(after))} WHERE id = ${id}`;
        if (after.isDisabled) await endEvents(database.kind, sql, id, "disabled");
        return { before: withoutVersion(before), after: withoutVersion(after) };
      });
      return after;
    },
    remove: (id, by) =>
      makeChange(database, { by, kind: "alert", action: "remove", subject: id }, async (sql) => {
        const before = await findAlert(sql, id);
        if (!before) return null;
        await sql`DELETE FROM alerts WHERE id = ${id}`;
        await endEvents(database.kind, sql, id, "removed");
        return { before: withoutVersion(before), after: null };
      }),
    async events({ organizationId, organizationIds, isOpen, below, limit }) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM (
            SELECT alert_events.*, fired_at AS created_at FROM alert_events) AS events
          WHERE 1 = 1
          ${ofOrganizations(sql, { organizationId, organizationIds })}
          ${isOpen ? sql`AND resolved_at IS NULL` : sql``}
          ${pageBelow(sql, { below, limit })}`,
      );
      return rows.map(alertEvents.read);
    },
    notices: (eventIds, organizationIds) => readNotices(database, eventIds, organizationIds),
    ejections: () => readEjected(database),
    undelivered: (organizationIds) => readUndelivered(database, organizationIds),
  };
}

async function findAlert(sql: Sql, id: string): Promise<AlertRecord | null> {
  return alerts.first(await sql<Row[]>`SELECT * FROM alerts WHERE id = ${id}`);
}

/** Ends the open events of a rule that is not watched any more. */
async function endEvents(
  kind: Database["kind"],
  sql: Sql,
  alertId: string,
  reason: NonNullable<AlertEvent["endReason"]>,
): Promise<void> {
  const ended = await sql<{ id: string }[]>`UPDATE alert_events
    SET resolved_at = ${storeTime(kind, sql)}, end_reason = ${reason}
    WHERE alert_id = ${alertId} AND resolved_at IS NULL RETURNING id`;
  await resolveIncidents(
    kind,
    sql,
    ended.map(({ id }) => id),
  );
}

async function readNotices(
  database: Database,
  eventIds: readonly string[],
  organizationIds: readonly string[] | undefined,
): Promise<Map<string, AlertNotice[]>> {
  const notices = new Map<string, AlertNotice[]>();
  if (eventIds.length === 0) return notices;
  const rows = await database.read(
    (sql) => sql<Row[]>`
      SELECT event_id, 'mail' AS way, recipient AS address,
        CASE status WHEN 'sent' THEN 'delivered' ELSE status END AS status, attempts, last_result, result_code,
        result_figures
      FROM mails WHERE event_id IN ${sql(padded(eventIds))} ${ofOrganizations(sql, { organizationIds })}
      UNION ALL SELECT event_id, 'webhook' AS way, url AS address, status, attempts, last_result, result_code,
        result_figures
      FROM webhook_deliveries
      WHERE event_id IN ${sql(padded(eventIds))} ${ofOrganizations(sql, { organizationIds })}`,
  );
  for (const { eventId, ...notice } of rows.map(eventNotices.read))
    notices.set(eventId, [...(notices.get(eventId) ?? []), notice]);
  return notices;
}

async function readEjected(database: Database): ReturnType<AlertAdminStore["ejections"]> {
  const rows = await database.read(
    (sql) => sql<Row[]>`SELECT target, organization_id, MIN(reason) AS reason, MIN(since) AS since
      FROM ejected_targets GROUP BY target, organization_id ORDER BY target LIMIT 1000`,
  );
  return rows.map(ejected.read);
}

const DAY_MS = 24 * 60 * 60_000;
/** Age from which a message that still waits for its first attempt counts as undelivered. */
const DUE_MS = 60_000;

async function readUndelivered(
  database: Database,
  organizationIds: readonly string[] | undefined,
): Promise<Undelivered[]> {
  if (organizationIds?.length === 0) return [];
  const tables = [
    ["mail", "mails", ""],
    ["webhook", "webhook_deliveries", "AND event LIKE 'alert.%'"],
  ] as const;
  return await database.read(async (sql) => {
    const now = sql`(SELECT ${storeTime(database.kind, sql)})`;
    const found: Undelivered[] = [];
    for (const [way, name, condition] of tables) {
      const rows = await sql<{ count: Integer; since: Integer }[]>`
        SELECT COUNT(*) AS count, MIN(created_at) AS since FROM ${sql.unsafe(name)}
        WHERE ((status = 'waiting' AND (last_result IS NOT NULL OR created_at < ${now} - ${DUE_MS}))
            OR (status = 'failed' AND created_at > ${now} - ${DAY_MS})) ${sql.unsafe(condition)}
          ${ofOrganizations(sql, { organizationIds })}`;
      const [row] = rows;
      const count = Number(row?.count ?? 0);
      if (count > 0) found.push({ way, count, since: Number(row?.since) });
    }
    return found;
  });
}
