import type { ListedRequest, RequestFilter, RequestRecord, RequestStore } from "../../admin/usage-ports.ts";
import type { LedgerPosition } from "../../admin/ledger-ports.ts";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { padded } from "../budgets/locked-budgets.ts";
import { toBit, toColumn, type Integer } from "../database/columns.ts";
import type { Database, Sql } from "../database/sql.ts";
import { readEntryRow, type LedgerRow } from "./ledger-row.ts";

/** Rows of one transaction: few, so that nothing waits. */
const BATCH = 500;
const MAX_FOUND = 20;

/** The log of requests that need looking at, listed together with the charges of the ledger. */
export function requestStore(database: Database): RequestStore {
  return {
    async add(records) {
      await database.insertRows("request_log", records.map(writeRecord));
    },
    list: (filter, page) =>
      database.readConsistently(async (sql) => {
        const isOfLog =
          filter.outcome === "failed" ||
          filter.code !== undefined ||
          (filter.statusClass !== undefined && filter.statusClass !== "2xx");
        const logged = await selectLogged(sql, filter, page, isOfLog);
        const charges = isOfLog ? [] : await selectCharges(sql, filter, page);
        const merged = [
          ...logged.map((record): ListedRequest => ({ id: record.id, at: record.at, record, charge: null })),
          ...charges.map((charge): ListedRequest => ({ id: charge.id, at: charge.at, record: null, charge })),
        ];
        return await completed(sql, merged.toSorted(newestFirst).slice(0, page.limit));
      }),
    find: (id) =>
      database.read(async (sql) => {
        const charge = id.replace(/:\d+$/, "");
        const rows = await sql<LogRow[]>`SELECT * FROM request_log WHERE id = ${charge} OR request_id = ${id}
          ORDER BY at DESC LIMIT ${MAX_FOUND}`;
        const entries = await sql<LedgerRow[]>`SELECT * FROM ledger
          WHERE kind = 'charge' AND (id = ${charge} OR request_id = ${id}) ORDER BY at DESC LIMIT ${MAX_FOUND}`;
        const found = new Map<string, ListedRequest>();
        for (const record of rows.map(readRecord))
          found.set(record.id, { id: record.id, at: record.at, record, charge: null });
        for (const entry of entries.map(readEntryRow)) {
          const { record = null, at = entry.at } = found.get(entry.id) ?? {};
          found.set(entry.id, { id: entry.id, at, record, charge: entry });
        }
        return [...found.values()].toSorted(newestFirst).slice(0, MAX_FOUND);
      }),
    async sweep(before, maxRows) {
      const old = await database.begin(
        (sql) => sql<object[]>`DELETE FROM request_log WHERE id IN
          (SELECT id FROM request_log WHERE at < ${before} ORDER BY at LIMIT ${BATCH}) RETURNING id`,
      );
      if (old.length > 0) return old.length;
      const [row] = await database.read(
        (sql) => sql<{ count: Integer }[]>`SELECT COUNT(*) AS count FROM request_log`,
      );
      const surplus = Math.min(Number(row?.count ?? 0) - maxRows, BATCH);
      if (surplus <= 0) return 0;
      const removed = await database.begin(
        (sql) => sql<object[]>`DELETE FROM request_log WHERE id IN
          (SELECT id FROM request_log ORDER BY at LIMIT ${surplus}) RETURNING id`,
      );
      return removed.length;
    },
  };
}

type Page = Parameters<RequestStore["list"]>[1];

async function selectLogged(
  sql: Sql,
  filter: RequestFilter,
  { below, limit }: Page,
  isOfLog: boolean,
): Promise<RequestRecord[]> {
  const { outcome, statusClass, code } = filter;
  const first = statusClass === undefined ? 0 : Number(statusClass[0]) * 100;
  const rows = await sql<LogRow[]>`SELECT * FROM request_log WHERE ${shared(sql, filter, below)}
    ${isOfLog ? sql`` : sql`AND is_charged = 0`}
    ${outcome === undefined ? sql`` : sql`AND is_failed = ${toBit(outcome === "failed")}`}
    ${statusClass === undefined ? sql`` : sql`AND status >= ${first} AND status < ${first + 100}`}
    ${code === undefined ? sql`` : sql`AND code = ${code}`}
    ORDER BY at DESC, id DESC LIMIT ${limit}`;
  return rows.map(readRecord);
}

async function selectCharges(
  sql: Sql,
  filter: RequestFilter,
  { below, limit }: Page,
): Promise<LedgerEntry[]> {
  const isSuccess = sql`AND NOT EXISTS
    (SELECT 1 FROM request_log WHERE request_log.id = ledger.id AND request_log.is_failed = 1)`;
  const rows = await sql<
    LedgerRow[]
  >`SELECT * FROM ledger WHERE ${shared(sql, filter, below)} AND kind = 'charge'
    ${filter.outcome === "succeeded" ? isSuccess : sql``}
    ORDER BY at DESC, id DESC LIMIT ${limit}`;
  return rows.map(readEntryRow);
}

/** What both tables have. */
function shared(
  sql: Sql,
  { organizations, keyId, model, channel, requestId, from, to }: RequestFilter,
  below: LedgerPosition | null,
) {
  return sql`1 = 1
    ${organizations === undefined ? sql`` : sql`AND organization_id IN ${sql(padded(organizations))}`}
    ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}
    ${model === undefined ? sql`` : sql`AND model = ${model}`}
    ${channel === undefined ? sql`` : sql`AND channel = ${channel}`}
    ${requestId === undefined ? sql`` : sql`AND request_id = ${requestId}`}
    ${from === undefined ? sql`` : sql`AND at >= ${from}`}
    ${to === undefined ? sql`` : sql`AND at < ${to}`}
    ${below === null ? sql`` : sql`AND (at, id) < (${below.at}, ${below.id})`}`;
}

/** Adds the records of charges and the charges of records. */
async function completed(sql: Sql, requests: readonly ListedRequest[]): Promise<ListedRequest[]> {
  const lacking = {
    record: requests.filter(({ record }) => !record).map(({ id }) => id),
    charge: requests.filter(({ record }) => record?.isCharged).map(({ id }) => id),
  };
  const logged =
    lacking.record.length === 0
      ? []
      : await sql<LogRow[]>`SELECT * FROM request_log WHERE id IN ${sql(padded(lacking.record))}`;
  const charged =
    lacking.charge.length === 0
      ? []
      : await sql<
          LedgerRow[]
        >`SELECT * FROM ledger WHERE kind = 'charge' AND id IN ${sql(padded(lacking.charge))}`;
  const records = new Map(logged.map((row) => [row.id, readRecord(row)]));
  const charges = new Map(charged.map((row) => [row.id, readEntryRow(row)]));
  return requests.map(({ id, at, record, charge }) => ({
    id,
    at,
    record: record ?? records.get(id) ?? null,
    charge: charge ?? charges.get(id) ?? null,
  }));
}

function newestFirst(one: LedgerPosition, other: LedgerPosition): number {
  return other.at - one.at || (one.id < other.id ? 1 : -1);
}

interface LogRow {
  id: string;
  request_id: string;
  trace_id: string | null;
  at: Integer;
  route: string;
  method: string;
  path: string;
  address: string | null;
  organization_id: string | null;
  key_id: string | null;
  model: string | null;
  channel: string | null;
  status: Integer;
  code: string | null;
  message: string | null;
  cause: string | null;
  duration_ms: Integer;
  first_byte_ms: Integer | null;
  is_stream: Integer;
  is_failed: Integer;
  is_charged: Integer;
  attempts: string;
  source: string | null;
}

function readRecord(row: LogRow): RequestRecord {
  return {
    id: row.id,
    requestId: row.request_id,
    traceId: row.trace_id,
    at: Number(row.at),
    route: row.route,
    method: row.method,
    path: row.path,
    address: row.address,
    organizationId: row.organization_id,
    keyId: row.key_id,
    source: row.source,
    model: row.model,
    channel: row.channel,
    status: Number(row.status),
    code: row.code,
    message: row.message,
    cause: row.cause,
    durationMs: Number(row.duration_ms),
    firstByteMs: row.first_byte_ms === null ? null : Number(row.first_byte_ms),
    isStream: Number(row.is_stream) === 1,
    isFailed: Number(row.is_failed) === 1,
    isCharged: Number(row.is_charged) === 1,
    attempts: JSON.parse(row.attempts),
  };
}

function writeRecord(record: RequestRecord): LogRow {
  return {
    id: record.id,
    request_id: record.requestId,
    trace_id: record.traceId,
    at: record.at,
    route: record.route,
    method: record.method,
    path: record.path,
    address: record.address,
    organization_id: record.organizationId,
    key_id: record.keyId,
    model: record.model,
    channel: record.channel,
    status: record.status,
    code: record.code,
    message: record.message,
    cause: record.cause,
    duration_ms: Math.round(record.durationMs),
    first_byte_ms: record.firstByteMs === null ? null : Math.round(record.firstByteMs),
    is_stream: toBit(record.isStream),
    is_failed: toBit(record.isFailed),
    is_charged: toBit(record.isCharged),
    attempts: toColumn(record.attempts),
    source: record.source,
  };
}
