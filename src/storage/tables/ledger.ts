import type { LedgerFilter, LedgerPage, LedgerPosition, PostedPage } from "../../admin/ledger/store-port.ts";
import type { LedgerEntry } from "../../domain/ledger.ts";
import type { Nanos } from "../../lib/money.ts";
import { firstOf, type Integer } from "../database/expressions.ts";
import { bookInTransaction, byName, readEntryRow, writeEntryRow } from "./booking.ts";
import { chargedSpan } from "./charged-span.ts";
import { ofOrganizations } from "./list-page.ts";
import type { Addition, Database, Sql } from "../database/sql.ts";
import type { Row } from "../database/table.ts";
import { usageSums } from "./usage-sums.ts";

/** The ledger. This store only inserts rows, each exactly once. */
export interface LedgerStore {
  /**
   * Books entries, those with budgets in one transaction. New entries add to the `spent` of their budgets. Charges are
   * also subtracted from `held` and the process's leases, if these exist. Posting the same entries again, in any order
   * and grouping, changes nothing, so a failed attempt can be repeated as a whole. Returns the number of new entries.
   */
  post(processId: string, entries: readonly LedgerEntry[]): Promise<number>;
  find(id: string, kind: LedgerEntry["kind"]): Promise<LedgerEntry | null>;
  /** Returns a page of entries, newest first. Every page takes the same time, except with a filter by a rare model. */
  list(page: LedgerPage): Promise<LedgerEntry[]>;
  /** See `LedgerAdminStore`. */
  listPosted(page: PostedPage): Promise<LedgerEntry[]>;
  /** See `LedgerAdminStore`. */
  position(id: string, organizationIds?: readonly string[]): Promise<LedgerPosition | null>;
  /** Returns the sum of all entries booked on a budget, over all its periods. */
  sumOfBudget(budget: string): Promise<Nanos>;
}

export function ledgerStore(database: Database): LedgerStore {
  return {
    async post(processId, entries) {
      const booked = entries.filter(({ budgets }) => budgets.length > 0);
      const others = entries.filter(({ budgets }) => budgets.length === 0);
      const rows = new Map(others.toSorted(byName).map((entry) => [writeEntryRow(entry, null), entry]));
      const count =
        rows.size === 0 ? 0 : await database.insertRows("ledger", [...rows.keys()], additionOf(rows));
      return count + (booked.length === 0 ? 0 : await postBooked(database, processId, booked));
    },
    async find(id, kind) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM ledger WHERE id = ${id} AND kind = ${kind}`,
      );
      const row = firstOf(rows);
      return row && readEntryRow(row);
    },
    async list({ below, limit, ...filter }) {
      const rows = await database.readConsistently(async (sql) => {
        const { organizationId, organizationIds } = filter;
        const organizations = organizationId === undefined ? organizationIds : [organizationId];
        const span = await chargedSpan(sql, { ...filter, ...(organizations && { organizations }) });
        if (!span) return [];
        return await sql<Row[]>`SELECT * FROM ledger WHERE 1 = 1 ${filtered(sql, { ...filter, ...span })}
          ${below === undefined ? sql`` : sql`AND (at, id) < (${below.at}, ${below.id})`}
          ORDER BY at DESC, id DESC LIMIT ${limit}`;
      });
      return rows.map(readEntryRow);
    },
    async listPosted({ after, upTo, limit, ...filter }) {
      const rows = await database.readConsistently(
        (sql) => sql<Row[]>`SELECT * FROM ledger
          WHERE sequence >= ${after.sequence} AND sequence <= ${upTo}
            AND (sequence, id, kind) > (${after.sequence}, ${after.id}, ${after.kind}) ${filtered(sql, filter)}
          ORDER BY sequence, id, kind LIMIT ${limit}`,
      );
      return rows.map(readEntryRow);
    },
    async position(id, organizationIds) {
      const rows = await database.read(
        (sql) => sql<{ at: Integer; id: string }[]>`SELECT at, id FROM ledger WHERE id = ${id}
          ${ofOrganizations(sql, { organizationIds })}
          LIMIT 1`,
      );
      const row = firstOf(rows);
      return row && { at: Number(row.at), id: row.id };
    },
    async sumOfBudget(budget) {
      const rows = await database.read(
        (sql) => sql<{ sum: string | null }[]>`
          SELECT CAST(SUM(amount) AS TEXT) AS sum FROM ledger_bookings WHERE budget = ${budget}`,
      );
      return BigInt(firstOf(rows)?.sum ?? 0);
    },
  };
}

function filtered(sql: Sql, filter: LedgerFilter) {
  const { keyId, model, requestId, from, to } = filter;
  return sql`${ofOrganizations(sql, filter)}
    ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}
    ${model === undefined ? sql`` : sql`AND model = ${model}`}
    ${requestId === undefined ? sql`` : sql`AND request_id = ${requestId}`}
    ${from === undefined ? sql`` : sql`AND at >= ${from}`}
    ${to === undefined ? sql`` : sql`AND at < ${to}`}`;
}

/** Returns the sums of usage that the new entries add to. */
function additionOf(entries: ReadonlyMap<Row, LedgerEntry>): Addition {
  return {
    identity: ["id", "kind"],
    sumsOf: (rows) => usageSums(rows.flatMap((row) => entries.get(row as Row) ?? [])),
    number(sequence) {
      for (const row of entries.keys()) row["sequence"] = sequence;
    },
  };
}

function postBooked(database: Database, processId: string, entries: readonly LedgerEntry[]): Promise<number> {
  return database.begin((sql) => bookInTransaction(database.kind, sql, processId, entries));
}
