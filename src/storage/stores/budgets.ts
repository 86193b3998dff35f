import type { BudgetAdminStore, BudgetRecord } from "../../admin/budget-ports.ts";
import { leasesInDoubt, writeOffLeases } from "../budgets/leases-in-doubt.ts";
import { storeTime } from "../budgets/locked-budgets.ts";
import { makeChange, withoutVersion } from "./change.ts";
import { ofOrganizations, pageOf } from "./list-page.ts";
import { firstOf, type Integer } from "../database/columns.ts";
import { runningPeriod } from "../../domain/budget-period.ts";
import type { Database, Sql } from "../database/sql.ts";

/** Budgets as administration sees them; requests reach them through leases and the ledger. */
export function budgetAdminStore(database: Database): BudgetAdminStore {
  return {
    ...budgetReads(database),
    async create(budget, by) {
      const change = { by, kind: "budget", action: "create", subject: budget.id } as const;
      let version = 0;
      await makeChange(database, change, async (sql, revision) => {
        await sql`INSERT INTO budgets ${sql(writeRow(budget, revision))}`;
        version = Number(revision);
        return { before: null, after: budget };
      });
      return { ...budget, version };
    },
    async update(id, change, by) {
      let after: BudgetRecord | null = null;
      const audited = { by, kind: "budget", action: "update", subject: id } as const;
      await makeChange(database, audited, async (sql, revision) => {
        const before = await find(database.kind, sql, id);
        if (!before) return null;
        const { amount } = change(before);
        await sql`UPDATE budgets SET amount = ${amount}, revision = ${revision} WHERE id = ${id}`;
        after = { ...before, amount, version: Number(revision) };
        return { before: withoutVersion(before), after: withoutVersion(after) };
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
        return { before: withoutVersion(before), after: null };
      });
    },
    writeOff: (processId, by) => writeOffLeases(database, processId, by),
  };
}

type BudgetReads = Pick<BudgetAdminStore, "get" | "list" | "page" | "ofKeys" | "leasesInDoubt">;

function budgetReads(database: Database): BudgetReads {
  const { kind } = database;
  return {
    get: (id) => database.read((sql) => find(kind, sql, id)),
    async list(organizationId) {
      const rows = await database.read(
        (sql) => sql<BudgetRow[]>`SELECT *, ${storeTime(kind, sql)} AS now FROM budgets
          ${organizationId === undefined ? sql`` : sql`WHERE organization_id = ${organizationId}`}
          ORDER BY created_at, id`,
      );
      return rows.map(readRow);
    },
    async page({ organizationId, organizationIds, keyId, ...page }) {
      const rows = await database.read(
        (sql) => sql<BudgetRow[]>`SELECT *, ${storeTime(kind, sql)} AS now FROM budgets WHERE 1 = 1
          ${ofOrganizations(sql, { organizationId, organizationIds })}
          ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}
          ${pageOf(sql, page)}`,
      );
      return rows.map(readRow);
    },
    async ofKeys(ids) {
      if (ids.length === 0) return [];
      const rows = await database.read(
        (sql) =>
          sql<
            BudgetRow[]
          >`SELECT *, ${storeTime(kind, sql)} AS now FROM budgets WHERE key_id IN ${sql([...ids])} ORDER BY created_at, id`,
      );
      return rows.map(readRow);
    },
    leasesInDoubt: () => leasesInDoubt(database),
  };
}

interface BudgetRow {
  id: string;
  organization_id: string;
  key_id: string | null;
  amount: bigint;
  period: BudgetRecord["period"];
  spent: bigint;
  held: bigint;
  period_start: Integer;
  created_at: Integer;
  revision: Integer;
  /** By the store's clock, as periods are. */
  now: Integer;
}

async function find(kind: Database["kind"], sql: Sql, id: string): Promise<BudgetRecord | null> {
  const row = firstOf(
    await sql<BudgetRow[]>`SELECT *, ${storeTime(kind, sql)} AS now FROM budgets WHERE id = ${id}`,
  );
  return row && readRow(row);
}

/** A period that is over has nothing spent, though only the next request writes that to the row. */
function readRow(row: BudgetRow): BudgetRecord {
  const startedAt = Number(row.period_start);
  const periodStart = runningPeriod(row.period, startedAt, Number(row.now));
  return {
    id: row.id,
    organizationId: row.organization_id,
    keyId: row.key_id,
    amount: row.amount,
    period: row.period,
    spent: periodStart > startedAt ? 0n : row.spent,
    held: row.held,
    periodStart,
    createdAt: Number(row.created_at),
    version: Number(row.revision),
  };
}

function writeRow(budget: Omit<BudgetRecord, "version">, revision: bigint) {
  return {
    id: budget.id,
    organization_id: budget.organizationId,
    key_id: budget.keyId,
    amount: budget.amount,
    period: budget.period,
    spent: budget.spent,
    held: budget.held,
    period_start: budget.periodStart,
    created_at: budget.createdAt,
    revision,
  };
}
