import type { BudgetAdminStore, BudgetRecord } from "../../admin/ports.ts";
import { leasesInDoubt, writeOffLeases } from "../budgets/leases-in-doubt.ts";
import { makeChange } from "./change.ts";
import { firstOf, type Integer } from "../database/columns.ts";
import { runningPeriod } from "../../domain/budget-period.ts";
import type { Database, Sql } from "../database/sql.ts";

/** Budgets as administration sees them; requests reach them through leases and the ledger. */
export function budgetAdminStore(database: Database): BudgetAdminStore {
  return {
    async create(budget, by) {
      const change = { by, kind: "budget", action: "create", subject: budget.id } as const;
      await makeChange(database, change, async (sql, revision) => {
        await sql`INSERT INTO budgets ${sql(writeRow(budget, revision))}`;
        return { before: null, after: budget };
      });
    },
    get: (id) => database.read((sql) => find(sql, id)),
    async list(organizationId) {
      const rows = await database.read(
        (sql) => sql<BudgetRow[]>`SELECT * FROM budgets
          ${organizationId === undefined ? sql`` : sql`WHERE organization_id = ${organizationId}`}
          ORDER BY created_at, id`,
      );
      return rows.map(readRow);
    },
    setAmount(id, amount, by) {
      const change = { by, kind: "budget", action: "update", subject: id } as const;
      return makeChange(database, change, async (sql, revision) => {
        const before = await find(sql, id);
        if (!before) return null;
        await sql`UPDATE budgets SET amount = ${amount}, revision = ${revision} WHERE id = ${id}`;
        return { before, after: { ...before, amount } };
      });
    },
    remove(id, by) {
      const change = { by, kind: "budget", action: "remove", subject: id } as const;
      return makeChange(database, change, async (sql) => {
        const before = await find(sql, id);
        if (!before) return null;
        await sql`DELETE FROM budgets WHERE id = ${id}`;
        await sql`DELETE FROM leases WHERE budget = ${id}`;
        return { before, after: null };
      });
    },
    leasesInDoubt: () => leasesInDoubt(database),
    writeOff: (processId, by) => writeOffLeases(database, processId, by),
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
}

async function find(sql: Sql, id: string): Promise<BudgetRecord | null> {
  const row = firstOf(await sql<BudgetRow[]>`SELECT * FROM budgets WHERE id = ${id}`);
  return row && readRow(row);
}

/** A period that is over has nothing spent, though only the next request writes that to the row. */
function readRow(row: BudgetRow): BudgetRecord {
  const startedAt = Number(row.period_start);
  const periodStart = runningPeriod(row.period, startedAt, Date.now());
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
  };
}

function writeRow(budget: BudgetRecord, revision: bigint) {
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
