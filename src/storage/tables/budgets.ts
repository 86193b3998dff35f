import type { BudgetAdminStore, NewBudget } from "../../admin/budgets/store-port.ts";
import { leasesInDoubt, writeOffLeases } from "../budgets/leases-in-doubt.ts";
import { BUDGET, inRunningPeriod } from "../budgets/locked-budgets.ts";
import { firstOf, type Integer, storeTime } from "../database/expressions.ts";
import { levelOf } from "../../domain/budget-level.ts";
import { startOfSpan } from "../../domain/calendar.ts";
import { makeChange } from "./change.ts";
import { ofOrganizations, pageOf } from "./list-page.ts";
import type { Database, Sql } from "../database/sql.ts";
import type { BudgetRecord } from "../../admin/budgets/schema.ts";
import { integer, named, nullable, table, text, time, type Row } from "../database/table.ts";

const budgets = table<Omit<BudgetRecord, "readAt">>("budgets", {
  ...BUDGET,
  keyId: nullable(text()),
  createdAt: time(),
  version: named("revision", integer()),
});

/** Budgets for administration. Requests use budgets through leases and the ledger. */
export function budgetAdminStore(database: Database): BudgetAdminStore {
  return {
    ...budgetReads(database),
    async create(budget, by) {
      const change = { by, kind: "budget", action: "create", subject: budget.id } as const;
      let created: BudgetRecord | null = null;
      await makeChange(database, change, async (sql, revision) => {
        const level = levelOf(budget, { nearSince: null, spentSince: null }, budget.createdAt);
        await sql`INSERT INTO budgets ${sql(budgets.write({ ...budget, ...level, version: Number(revision) }))}`;
        created = await find(database.kind, sql, budget.id);
        return { before: null, after: created && audited(created) };
      });
      if (!created) throw new Error("a budget that was just written is not there");
      return created;
    },
    async update(id, change, by) {
      let after: BudgetRecord | null = null;
      const update = { by, kind: "budget", action: "update", subject: id } as const;
      await makeChange(database, update, async (sql, revision) => {
        const before = await find(database.kind, sql, id);
        if (!before) return null;
        const { amount } = change(before);
        const level = levelOf({ ...before, amount }, before, before.readAt);
        await sql`UPDATE budgets SET amount = ${amount}, near_since = ${level.nearSince},
          spent_since = ${level.spentSince}, revision = ${revision} WHERE id = ${id}`;
        after = { ...before, ...level, amount, version: Number(revision) };
        return { before: audited(before), after: audited(after) };
      });
      return after;
    },
    remove(id, by) {
      const change = { by, kind: "budget", action: "remove", subject: id } as const;
      return makeChange(database, change, async (sql) => {
        const before = await find(database.kind, sql, id);
        if (!before) return null;
        await sql`DELETE FROM budgets WHERE id = ${id}`;
        await sql`DELETE FROM leases WHERE budget = ${id}`;
        return { before: audited(before), after: null };
      });
    },
    writeOff: (processId, by) => writeOffLeases(database, processId, by),
  };
}

type BudgetReads = Pick<
  BudgetAdminStore,
  "get" | "list" | "page" | "mostSpent" | "nearlySpent" | "ofKeys" | "ofOrganizations" | "leasesInDoubt"
>;

function budgetReads(database: Database): BudgetReads {
  const { kind } = database;
  return {
    get: (id) => database.read((sql) => find(kind, sql, id)),
    async list(organizationId) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT *, ${storeTime(kind, sql)} AS read_at FROM budgets
          ${organizationId === undefined ? sql`` : sql`WHERE organization_id = ${organizationId}`}
          ORDER BY created_at, id`,
      );
      return rows.map(readBudget);
    },
    async page({ organizationId, organizationIds, keyId, ...page }) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT *, ${storeTime(kind, sql)} AS read_at FROM budgets WHERE 1 = 1
          ${ofOrganizations(sql, { organizationId, organizationIds })}
          ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}
          ${pageOf(sql, page)}`,
      );
      return rows.map(readBudget);
    },
    mostSpent: (limit) =>
      readByPeriod(
        database,
        (sql, isRunning) => sql`ORDER BY
          CASE WHEN ${isRunning} THEN CAST(spent AS DOUBLE PRECISION) / (amount + 1) ELSE 0 END DESC, id LIMIT ${limit}`,
      ),
    nearlySpent: (filter) => readNearlySpent(database, filter),
    ofKeys: (ids) => readOf(database, (sql) => sql`key_id IN ${sql([...ids])}`, ids),
    ofOrganizations: (ids) =>
      readOf(database, (sql) => sql`key_id IS NULL AND organization_id IN ${sql([...ids])}`, ids),
    leasesInDoubt: () => leasesInDoubt(database),
  };
}

/** Reads the budgets that a condition selects, oldest first; none for an empty list of ids. */
async function readOf(
  database: Database,
  condition: (sql: Sql) => ReturnType<Sql>,
  ids: readonly string[],
): Promise<BudgetRecord[]> {
  if (ids.length === 0) return [];
  const rows = await database.read(
    (sql) => sql<Row[]>`SELECT *, ${storeTime(database.kind, sql)} AS read_at FROM budgets
      WHERE ${condition(sql)} ORDER BY created_at, id`,
  );
  return rows.map(readBudget);
}

async function readNearlySpent(
  database: Database,
  { limit, ...filter }: Parameters<BudgetAdminStore["nearlySpent"]>[0],
): Promise<BudgetRecord[]> {
  if (filter.organizationIds?.length === 0) return [];
  return await readByPeriod(
    database,
    (sql, isRunning) => sql`WHERE near_since IS NOT NULL AND ${isRunning} ${ofOrganizations(sql, filter)}
      ORDER BY CASE WHEN spent_since IS NULL THEN 1 ELSE 0 END, near_since DESC, id LIMIT ${limit}`,
  );
}

/** Reads the budgets that `clauses` selects and orders. `isRunning` is true for a row whose period has not ended. */
async function readByPeriod(
  database: Database,
  clauses: (sql: Sql, isRunning: ReturnType<Sql>) => ReturnType<Sql>,
): Promise<BudgetRecord[]> {
  const rows = await database.read(async (sql) => {
    const now = storeTime(database.kind, sql);
    const clock = firstOf(await sql<{ now: Integer }[]>`SELECT ${now} AS now`);
    const [day, month] = (["day", "month"] as const).map((span) => startOfSpan(span, Number(clock?.now)));
    const isRunning = sql`period_start >= CASE period WHEN 'day' THEN CAST(${day} AS BIGINT)
      WHEN 'month' THEN CAST(${month} AS BIGINT) ELSE 0 END`;
    return await sql<Row[]>`SELECT *, ${now} AS read_at FROM budgets ${clauses(sql, isRunning)}`;
  });
  return rows.map(readBudget);
}

async function find(kind: Database["kind"], sql: Sql, id: string): Promise<BudgetRecord | null> {
  const row = firstOf(
    await sql<Row[]>`SELECT *, ${storeTime(kind, sql)} AS read_at FROM budgets WHERE id = ${id}`,
  );
  return row && readBudget(row);
}

function readBudget(row: Row): BudgetRecord {
  const stored = budgets.read(row);
  const readAt = Number(row["read_at"]);
  return { ...stored, ...inRunningPeriod(stored, readAt), readAt };
}

/** Returns a budget for the audit, without its version, its level and the time of reading. */
function audited(budget: BudgetRecord): NewBudget {
  const {
    version: _version,
    readAt: _readAt,
    nearSince: _nearSince,
    spentSince: _spentSince,
    ...row
  } = budget;
  return row;
}
