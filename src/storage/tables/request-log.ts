import type {
  ListedRequest,
  RequestFilter,
  RequestRecord,
  RequestStore,
} from "../../admin/usage/store-port.ts";
import type { LedgerPosition } from "../../admin/ledger/store-port.ts";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { type Integer, padded, toBit } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { bit, integer, json, nullable, table, text, time, type Column, type Row } from "../database/table.ts";
import { readEntryRow } from "./booking.ts";
import { chargedSpan } from "./charged-span.ts";

/** Converts a duration, which is measured in fractions of milliseconds and stored as whole milliseconds. */
const duration: Column<number> = { read: Number, write: Math.round };

const requestLog = table<RequestRecord>("request_log", {
  id: text(),
  requestId: text(),
  traceId: nullable(text()),
  at: time(),
  route: text(),
  method: text(),
  path: text(),
  address: nullable(text()),
  organizationId: nullable(text()),
  keyId: nullable(text()),
  source: nullable(text()),
  model: nullable(text()),
  askedModel: nullable(text()),
  client: nullable(text()),
  channel: nullable(text()),
  status: integer(),
  code: nullable(text()),
  message: nullable(text()),
  cause: nullable(text()),
  durationMs: duration,
  firstByteMs: nullable(duration),
  isStream: bit(),
  isFailed: bit(),
  isCharged: bit(),
  attempts: json(),
});

/** Maximum number of rows in one transaction, so that other transactions do not wait long. */
const BATCH = 500;
const MAX_FOUND = 20;
/** Minimum length of a vendor's id. Shorter texts would occur in too many requests. */
const MIN_VENDOR_ID = 8;

/** The log of requests. It is listed together with the charges of the ledger. */
export function requestStore(database: Database): RequestStore {
  return {
    async add(records) {
      await database.insertRows(requestLog.name, records.map(requestLog.write));
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
    find: (id, organizations) => database.read((sql) => selectByIds(sql, id, organizations)),
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

/**
 * Finds requests by the gateway's, the caller's or a vendor's id. Callers choose their ids and may send the id of
 * another request, so the requests found by the gateway's or a vendor's id are always in the result.
 */
async function selectByIds(
  sql: Sql,
  id: string,
  organizations: readonly string[] | undefined,
): Promise<ListedRequest[]> {
  if (organizations?.length === 0) return [];
  const charge = id.replace(/:\d+$/, "");
  const isOwn =
    organizations === undefined ? sql`` : sql`AND organization_id IN ${sql(padded(organizations))}`;
  const found = new Map<string, ListedRequest>();
  const order = sql`ORDER BY CASE WHEN id = ${charge} THEN 0 ELSE 1 END, at DESC LIMIT ${MAX_FOUND}`;
  const rows = await sql<Row[]>`SELECT * FROM request_log
    WHERE (id = ${charge} OR request_id = ${id}) ${isOwn} ${order}`;
  const entries = await sql<Row[]>`SELECT * FROM ledger
    WHERE kind = 'charge' AND (id = ${charge} OR request_id = ${id}) ${isOwn} ${order}`;
  const isGateways = [...rows, ...entries].some((row) => row["id"] === charge);
  const byVendor = isGateways ? [] : await selectByVendorId(sql, id, isOwn);
  for (const record of [...rows, ...byVendor].map(requestLog.read))
    found.set(record.id, { id: record.id, at: record.at, record, charge: null });
  for (const entry of entries.map(readEntryRow)) {
    const { record = null, at = entry.at } = found.get(entry.id) ?? {};
    found.set(entry.id, { id: entry.id, at, record, charge: entry });
  }
  const kept = new Set([charge, ...byVendor.map((row) => row["id"])]);
  const newest = [...found.values()].toSorted(newestFirst);
  return await completed(
    sql,
    newest.filter((request, index) => index < MAX_FOUND || kept.has(request.id)),
  );
}

/** Finds the newest requests that made a call with this vendor id. The log is small enough for a scan. */
async function selectByVendorId(sql: Sql, id: string, isOwn: object): Promise<Row[]> {
  if (id.length < MIN_VENDOR_ID) return [];
  const text = `%"vendorRequestId":${JSON.stringify(id).replaceAll(/[\\%_]/g, "\\$&")}%`;
  return await sql<Row[]>`SELECT * FROM request_log WHERE attempts LIKE ${text} ESCAPE ${"\\"} ${isOwn}
    ORDER BY at DESC LIMIT ${MAX_FOUND}`;
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
  const rows = await sql<Row[]>`SELECT * FROM request_log WHERE ${shared(sql, filter, below)}
    ${isOfLog ? sql`` : sql`AND is_charged = 0`}
    ${outcome === undefined ? sql`` : sql`AND is_failed = ${toBit(outcome === "failed")}`}
    ${statusClass === undefined ? sql`` : sql`AND status >= ${first} AND status < ${first + 100}`}
    ${code === undefined ? sql`` : sql`AND code = ${code}`}
    ORDER BY at DESC, id DESC LIMIT ${limit}`;
  return rows.map(requestLog.read);
}

async function selectCharges(
  sql: Sql,
  filter: RequestFilter,
  { below, limit }: Page,
): Promise<LedgerEntry[]> {
  const span = await chargedSpan(sql, filter);
  if (!span) return [];
  const isSuccess = sql`AND NOT EXISTS
    (SELECT 1 FROM request_log WHERE request_log.id = ledger.id AND request_log.is_failed = 1)`;
  const rows = await sql<
    Row[]
  >`SELECT * FROM ledger WHERE ${shared(sql, { ...filter, ...span }, below)} AND kind = 'charge'
    ${filter.outcome === "succeeded" ? isSuccess : sql``}
    ORDER BY at DESC, id DESC LIMIT ${limit}`;
  return rows.map(readEntryRow);
}

/** Returns the conditions on columns that the log and the ledger both have. */
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

/** Adds the missing log record and the missing charge of each request. */
async function completed(sql: Sql, requests: readonly ListedRequest[]): Promise<ListedRequest[]> {
  const lacking = {
    record: requests.filter(({ record }) => !record).map(({ id }) => id),
    charge: requests.filter(({ record }) => record?.isCharged).map(({ id }) => id),
  };
  const logged =
    lacking.record.length === 0
      ? []
      : await sql<Row[]>`SELECT * FROM request_log WHERE id IN ${sql(padded(lacking.record))}`;
  const charged =
    lacking.charge.length === 0
      ? []
      : await sql<Row[]>`SELECT * FROM ledger WHERE kind = 'charge' AND id IN ${sql(padded(lacking.charge))}`;
  const records = new Map(logged.map(requestLog.read).map((record) => [record.id, record]));
  const charges = new Map(charged.map(readEntryRow).map((charge) => [charge.id, charge]));
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
