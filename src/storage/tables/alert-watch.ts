import type { AlertStore, Mail } from "../../alerts/ports.ts";
import type { AlertEvent } from "../../domain/alert.ts";
import { newId } from "../../lib/ids.ts";
import { forUpdate, skipLocked, storeTime, toColumn } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { emptyAsNull, integer, table, text, type Row } from "../database/table.ts";
import { readFacts } from "./alert-facts.ts";
import { announceFired, announceResolved } from "./alert-messages.ts";
import { alertEvents, alerts } from "./alerts.ts";

const mails = table<Mail>("mails", {
  id: text(),
  organizationId: emptyAsNull(),
  recipient: text(),
  subject: text(),
  body: text(),
  attempts: integer(),
});

/** The store of alerts for the watch, which evaluates the rules. */
export function alertStore(database: Database): AlertStore {
  const { kind } = database;
  return {
    async takeTurn(processId, forMs) {
      const taken = await database.begin(
        (sql) => sql<object[]>`UPDATE alert_turn SET process_id = ${processId},
            until_time = ${storeTime(kind, sql)} + ${forMs}
          WHERE id = 1 AND (process_id = ${processId} OR until_time < ${storeTime(kind, sql)}) RETURNING id`,
      );
      return taken.length > 0;
    },
    noteEjections: (processId, ejections, forgetMs) =>
      noteEjections(database, processId, ejections, forgetMs),
    async rules() {
      const rows = await database.read((sql) => sql<Row[]>`SELECT * FROM alerts WHERE is_disabled = 0`);
      return rows.map(alerts.read);
    },
    facts: (organizationId, minutes) => readFacts(database, organizationId, minutes),
    settle: (...settled) => settle(database, ...settled),
    dueMails: (limit) =>
      database.begin(async (sql) => {
        const now = storeTime(kind, sql);
        const rows = await sql<Row[]>`UPDATE mails SET attempts = attempts + 1, next_at = ${now} + 60000
          WHERE id IN (SELECT id FROM mails WHERE status = 'waiting' AND next_at <= (SELECT ${now})
            ORDER BY next_at LIMIT ${limit} ${skipLocked(kind, sql)})
          RETURNING ${sql.unsafe(mails.columns)}`;
        return rows.map(mails.read);
      }),
    async mailSent(id) {
      await database.begin(
        (sql) =>
          sql`UPDATE mails SET status = 'sent', last_result = NULL, result_code = NULL WHERE id = ${id}`,
      );
    },
    async mailFailed(id, result, retryMs) {
      const { message, code, figures } = result;
      await database.begin(async (sql) => {
        await sql`UPDATE mails SET last_result = ${message}, result_code = ${code},
          result_figures = ${toColumn(figures)} WHERE id = ${id}`;
        if (retryMs === null) await sql`UPDATE mails SET status = 'failed' WHERE id = ${id}`;
        else await sql`UPDATE mails SET next_at = ${storeTime(kind, sql)} + ${retryMs} WHERE id = ${id}`;
      });
    },
    sweep: (retentionMs) =>
      database.begin(async (sql) => {
        const before = sql`(SELECT ${storeTime(kind, sql)}) - ${retentionMs}`;
        await sql`DELETE FROM alert_events WHERE resolved_at < ${before}`;
        await sql`DELETE FROM mails WHERE created_at < ${before} AND status <> 'waiting'`;
      }),
  };
}

function noteEjections(
  database: Database,
  processId: string,
  ejections: Parameters<AlertStore["noteEjections"]>[1],
  forgetMs: number,
): Promise<void> {
  return database.begin(async (sql) => {
    const now = storeTime(database.kind, sql);
    for (const { target, organization, reason, lastedMs = 0 } of ejections)
      await sql`INSERT INTO ejected_targets (process_id, target, organization_id, reason, since, seen_at)
        VALUES (${processId}, ${target}, ${organization ?? ""}, ${reason},
          ${now} - ${Math.round(lastedMs)}, ${now})
        ON CONFLICT (process_id, target, organization_id)
          DO UPDATE SET seen_at = excluded.seen_at, reason = excluded.reason`;
    const held = new Set(ejections.map(({ target, organization }) => `${organization ?? ""} ${target}`));
    // Targets that this process has taken back into service are removed immediately. Targets that ended processes had
    // reported are removed after a while.
    const own = await sql<{ target: string; organization_id: string }[]>`
      SELECT target, organization_id FROM ejected_targets WHERE process_id = ${processId}`;
    for (const { target, organization_id: organization } of own)
      if (!held.has(`${organization} ${target}`))
        await sql`DELETE FROM ejected_targets
          WHERE process_id = ${processId} AND target = ${target} AND organization_id = ${organization}`;
    await sql`DELETE FROM ejected_targets WHERE seen_at < (SELECT ${now}) - ${forgetMs}`;
  });
}

/** Begins and ends events in one transaction with their messages, so that each event is announced exactly once. */
async function settle(
  database: Database,
  ...[rule, conditions, now, installation]: Parameters<AlertStore["settle"]>
): Promise<void> {
  const open = await database.read((sql) => openEvents(sql, rule.id));
  const holding = new Map(conditions.map((condition) => [condition.condition, condition]));
  const known = new Set(open.map(({ condition }) => condition));
  const isSettled = open.every(({ condition }) => holding.has(condition)) && known.size === holding.size;
  if (isSettled) return;
  await database.begin(async (sql) => {
    // A rule that was disabled or removed meanwhile must not open an event, because nothing would end it.
    const watched = await sql<object[]>`SELECT id FROM alerts WHERE id = ${rule.id} AND is_disabled = 0
      ${forUpdate(database.kind, sql)}`;
    if (watched.length === 0) return;
    for (const [condition, { subject, severity, message, code, figures }] of holding) {
      if (known.has(condition)) continue;
      const event: AlertEvent = {
        id: newId("alert"),
        alertId: rule.id,
        organizationId: rule.organizationId,
        alertName: rule.name,
        kind: rule.settings.kind,
        severity,
        subject,
        message,
        code,
        figures,
        firedAt: now,
        resolvedAt: null,
        endReason: null,
      };
      const row = { ...alertEvents.write(event), condition };
      const added = await sql<
        object[]
      >`INSERT INTO alert_events ${sql(row)} ON CONFLICT DO NOTHING RETURNING id`;
      if (added.length > 0) await announceFired(database.kind, sql, rule, event, installation);
    }
    for (const row of open) {
      if (holding.has(row.condition)) continue;
      const ended = await sql<object[]>`UPDATE alert_events SET resolved_at = ${now}
        WHERE id = ${row.id} AND resolved_at IS NULL RETURNING id`;
      if (ended.length > 0)
        await announceResolved(
          database.kind,
          sql,
          rule,
          { ...alertEvents.read(row), resolvedAt: now },
          installation,
        );
    }
  });
}

type OpenRow = Row & { id: string; condition: string };

function openEvents(sql: Sql, alertId: string): PromiseLike<OpenRow[]> {
  return sql<OpenRow[]>`SELECT * FROM alert_events WHERE alert_id = ${alertId} AND resolved_at IS NULL`;
}
