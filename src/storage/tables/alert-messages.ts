import type { InstallationName } from "../../alerts/ports.ts";
import type { AlertEvent, AlertRule } from "../../domain/alert.ts";
import { operatorMessage } from "../../domain/operator-message.ts";
import type { AlertData, WebhookMessageType } from "../../domain/webhook-message.table.ts";
import { newId } from "../../lib/ids.ts";
import { storeTime, toColumn } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";

/** Writes the messages about the start of an event, in the transaction of the event. */
export async function announceFired(
  kind: Database["kind"],
  sql: Sql,
  rule: AlertRule,
  event: AlertEvent,
  installation: InstallationName,
): Promise<void> {
  await announce(kind, sql, rule, { type: "alert.fired", title: rule.name, event, installation });
}

/**
 * Writes the messages about an event's end. The end of a budget's event, for example at the end of the budget's period,
 * only ends PagerDuty incidents.
 */
export async function announceResolved(
  kind: Database["kind"],
  sql: Sql,
  rule: AlertRule,
  event: AlertEvent,
  installation: InstallationName,
): Promise<void> {
  await resolveIncidents(kind, sql, [event.id]);
  const message: AlertMessage = { type: "alert.resolved", title: `${rule.name}: over`, event, installation };
  if (event.kind !== "budget") await announce(kind, sql, rule, message);
}

/**
 * Writes a message to each endpoint of PagerDuty that got a message about one of these events, so that the incident at
 * PagerDuty ends. A first message that still waits is not sent any more, because it could arrive after the new message.
 */
export async function resolveIncidents(
  kind: Database["kind"],
  sql: Sql,
  eventIds: readonly string[],
): Promise<void> {
  if (eventIds.length === 0) return;
  const now = storeTime(kind, sql);
  const over = operatorMessage("delivery.over", {});
  const isFired = sql`event_id IN ${sql([...eventIds])} AND event = 'alert.fired'
    AND endpoint_id IN (SELECT id FROM webhook_endpoints WHERE format = 'pagerduty')`;
  await sql`UPDATE webhook_deliveries SET status = 'failed', last_result = ${over.message},
      result_code = ${over.code}, ended_at = ${now}
    WHERE ${isFired} AND status = 'waiting'`;
  const fired = await sql<{ id: string }[]>`SELECT id FROM webhook_deliveries WHERE ${isFired}`;
  for (const { id } of fired)
    await sql`INSERT INTO webhook_deliveries (id, endpoint_id, organization_id, job_id, event, url, status, attempts,
        next_at, created_at, content, event_id)
      SELECT ${newId("msg")}, endpoint_id, organization_id, job_id, 'alert.resolved', url, 'waiting', 0, ${now}, ${now},
        content, event_id FROM webhook_deliveries WHERE id = ${id}`;
}

interface AlertMessage {
  type: WebhookMessageType;
  title: string;
  event: AlertEvent;
  installation: InstallationName;
}

async function announce(
  kind: Database["kind"],
  sql: Sql,
  { emails, usesWebhooks, organizationId }: AlertRule,
  message: AlertMessage,
): Promise<void> {
  const { type, title, event, installation } = message;
  const now = storeTime(kind, sql);
  const owner = organizationId ?? "";
  const subject = oneLine(`[${installation.name}] ${event.severity}: ${title}`);
  for (const recipient of emails)
    await sql`INSERT INTO mails (id, recipient, subject, body, status, attempts, next_at, created_at,
        organization_id, event_id)
      VALUES (${newId("mail")}, ${recipient}, ${subject}, ${bodyOf(message)}, 'waiting', 0, ${now}, ${now},
        ${owner}, ${event.id})`;
  if (!usesWebhooks) return;
  const endpoints = await sql<{ id: string; url: string }[]>`
    SELECT id, url FROM webhook_endpoints WHERE organization_id = ${owner} AND url IS NOT NULL
      ${type === "alert.resolved" ? sql`AND format <> 'pagerduty'` : sql``}`;
  for (const { id, url } of endpoints)
    await sql`INSERT INTO webhook_deliveries (id, endpoint_id, organization_id, job_id, event, url, status, attempts,
        next_at, created_at, content, event_id)
      VALUES (${newId("msg")}, ${id}, ${owner}, '', ${type}, ${url}, 'waiting', 0, ${now}, ${now},
        ${toColumn(dataOf(message))}, ${event.id})`;
}

/** Returns the data of a webhook's message. Its field names have the same form as in messages about jobs. */
function dataOf({ event, installation }: AlertMessage): AlertData {
  return {
    id: event.id,
    alert_id: event.alertId,
    alert_name: event.alertName,
    installation: installation.name,
    kind: event.kind,
    severity: event.severity,
    organization_id: event.organizationId,
    subject: event.subject,
    message: event.message,
    link: linkTo(installation),
    fired_at: new Date(event.firedAt).toISOString(),
    resolved_at: event.resolvedAt === null ? null : new Date(event.resolvedAt).toISOString(),
  };
}

function bodyOf({ event, installation }: AlertMessage): string {
  const { organizationId, severity, message, firedAt, resolvedAt } = event;
  const lines = [message, "", `Installation: ${installation.name}`, `Severity: ${severity}`];
  if (organizationId !== null) lines.push(`Organization: ${organizationId}`);
  lines.push(`Since: ${new Date(firedAt).toISOString()}`);
  if (resolvedAt !== null) lines.push(`Over at: ${new Date(resolvedAt).toISOString()}`);
  const link = linkTo(installation);
  if (link !== null) lines.push("", link);
  return `${lines.join("\n")}\n`;
}

function linkTo({ url }: InstallationName): string | null {
  return url === null ? null : `${url}/console/settings/alerts`;
}

/** Returns the text on one line. People choose names, and a line break in a name must not become a header. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}
