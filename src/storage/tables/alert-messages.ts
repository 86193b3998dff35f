import type { AlertEvent, AlertRule } from "../../domain/alert.ts";
import { newId } from "../../lib/ids.ts";
import { storeTime, toColumn } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";

/** Writes the messages about something that a rule has found, in the transaction of its event. */
export async function announceFired(
  kind: Database["kind"],
  sql: Sql,
  rule: AlertRule,
  event: AlertEvent,
): Promise<void> {
  await announce(kind, sql, rule, { type: "alert.fired", title: rule.name, event });
}

/** The same when it holds no more. The end of a budget's period is news to nobody. */
export async function announceResolved(
  kind: Database["kind"],
  sql: Sql,
  rule: AlertRule,
  event: AlertEvent,
): Promise<void> {
  if (event.kind !== "budget")
    await announce(kind, sql, rule, { type: "alert.resolved", title: `${rule.name}: over`, event });
}

async function announce(
  kind: Database["kind"],
  sql: Sql,
  { emails, usesWebhooks, organizationId }: AlertRule,
  { type, title, event }: { type: string; title: string; event: AlertEvent },
): Promise<void> {
  const now = storeTime(kind, sql);
  for (const recipient of emails)
    await sql`INSERT INTO mails (id, recipient, subject, body, status, attempts, next_at, created_at, organization_id)
      VALUES (${newId("mail")}, ${recipient}, ${`[gateway] ${oneLine(title)}`}, ${bodyOf(event)}, 'waiting', 0,
        ${now}, ${now}, ${organizationId})`;
  if (!usesWebhooks) return;
  const endpoints = await sql<{ id: string; url: string }[]>`
    SELECT id, url FROM webhook_endpoints WHERE organization_id = ${organizationId} AND url IS NOT NULL`;
  for (const { id, url } of endpoints)
    await sql`INSERT INTO webhook_deliveries (id, endpoint_id, organization_id, job_id, event, url, status, attempts,
        next_at, created_at, content)
      VALUES (${newId("msg")}, ${id}, ${organizationId}, '', ${type}, ${url}, 'waiting', 0, ${now}, ${now},
        ${toColumn(dataOf(event))})`;
}

/** The data of a webhook's message, named as in messages about jobs. */
function dataOf(event: AlertEvent): object {
  return {
    id: event.id,
    alert_id: event.alertId,
    alert_name: event.alertName,
    kind: event.kind,
    organization_id: event.organizationId,
    subject: event.subject,
    message: event.message,
    fired_at: new Date(event.firedAt).toISOString(),
    resolved_at: event.resolvedAt === null ? null : new Date(event.resolvedAt).toISOString(),
  };
}

function bodyOf({ organizationId, message, firedAt, resolvedAt }: AlertEvent): string {
  const lines = [message, "", `Organization: ${organizationId}`, `Since: ${new Date(firedAt).toISOString()}`];
  if (resolvedAt !== null) lines.push(`Over at: ${new Date(resolvedAt).toISOString()}`);
  return `${lines.join("\n")}\n`;
}

/** Names come from people; a line break in one must not become a header. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}
