import type { AlertRecord } from "../../admin/alert-ports.ts";
import type { AlertEvent, AlertRule } from "../../domain/alert.ts";
import { firstOf, toBit, toColumn, type Integer } from "../database/columns.ts";
import type { Sql } from "../database/sql.ts";

export interface AlertRow {
  id: string;
  organization_id: string;
  name: string;
  settings: string;
  emails: string;
  uses_webhooks: Integer;
  is_disabled: Integer;
  created_at: Integer;
  revision: Integer;
}

export async function findAlert(sql: Sql, id: string): Promise<AlertRecord | null> {
  const row = firstOf(await sql<AlertRow[]>`SELECT * FROM alerts WHERE id = ${id}`);
  return row && readAlert(row);
}

export function readAlert(row: AlertRow): AlertRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    settings: JSON.parse(row.settings),
    emails: JSON.parse(row.emails),
    usesWebhooks: Number(row.uses_webhooks) === 1,
    isDisabled: Number(row.is_disabled) === 1,
    createdAt: Number(row.created_at),
    version: Number(row.revision),
  };
}

export function writeAlert(rule: AlertRule, revision: bigint) {
  return {
    id: rule.id,
    organization_id: rule.organizationId,
    name: rule.name,
    settings: toColumn(rule.settings),
    emails: toColumn(rule.emails),
    uses_webhooks: toBit(rule.usesWebhooks),
    is_disabled: toBit(rule.isDisabled),
    created_at: rule.createdAt,
    revision,
  };
}

export interface EventRow {
  id: string;
  alert_id: string;
  organization_id: string;
  alert_name: string;
  kind: AlertEvent["kind"];
  condition: string;
  subject: string;
  message: string;
  fired_at: Integer;
  resolved_at: Integer | null;
}

export function readEvent(row: EventRow): AlertEvent {
  return {
    id: row.id,
    alertId: row.alert_id,
    organizationId: row.organization_id,
    alertName: row.alert_name,
    kind: row.kind,
    subject: row.subject,
    message: row.message,
    firedAt: Number(row.fired_at),
    resolvedAt: row.resolved_at === null ? null : Number(row.resolved_at),
  };
}

export function writeEvent(event: AlertEvent, condition: string) {
  return {
    id: event.id,
    alert_id: event.alertId,
    organization_id: event.organizationId,
    alert_name: event.alertName,
    kind: event.kind,
    condition,
    subject: event.subject,
    message: event.message,
    fired_at: event.firedAt,
    resolved_at: event.resolvedAt,
  };
}
