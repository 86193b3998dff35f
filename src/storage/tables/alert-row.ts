import type { AlertRecord } from "../../admin/alert-ports.ts";
import type { AlertEvent } from "../../domain/alert.ts";
import type { Sql } from "../database/sql.ts";
import { bit, integer, json, named, nullable, table, text, time, type Row } from "../database/table.ts";

export const alerts = table<AlertRecord>("alerts", {
  id: text(),
  organizationId: text(),
  name: text(),
  settings: json(),
  emails: json(),
  usesWebhooks: bit(),
  isDisabled: bit(),
  createdAt: time(),
  version: named("revision", integer()),
});

export async function findAlert(sql: Sql, id: string): Promise<AlertRecord | null> {
  return alerts.first(await sql<Row[]>`SELECT * FROM alerts WHERE id = ${id}`);
}

/** What rules have found. The column `condition` beside these tells apart what one rule has found. */
export const alertEvents = table<AlertEvent>("alert_events", {
  id: text(),
  alertId: text(),
  organizationId: text(),
  alertName: text(),
  kind: text(),
  subject: text(),
  message: text(),
  firedAt: time(),
  resolvedAt: nullable(time()),
});
