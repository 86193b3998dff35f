import type { BudgetAdminStore, BudgetRecord, NewBudget } from "../../admin/budget-ports.ts";
import { leasesInDoubt, writeOffLeases } from "../budgets/leases-in-doubt.ts";
import { inRunningPeriod, storeTime } from "../budgets/locked-budgets.ts";
import { makeChange } from "./change.ts";
import { ofOrganizations, pageOf } from "./list-page.ts";
import { firstOf, type Integer } from "../database/columns.ts";
import type { Database, Sql } from "../database/sql.ts";

/** Budgets as administration sees them; requests reach them through leases and the ledger. */
export function budgetAdminStore(database: Database): BudgetAdminStore {
  return {
    ...budgetReads(database),
    async create(budget, by) {
      const change = { by, kind: "budget", action: "create", subject: budget.id } as const;
      let created: BudgetRecord | null = null;
      await makeChange(database, change, async (sql, revision) => {
        await sql`INSERT INTO budgets ${sql(writeRow(budget, revision))}`;
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
        await sql`UPDATE budgets SET amount = ${amount}, revision = ${revision} WHERE id = ${id}`;
        after = { ...before, amount, version: Number(revision) };
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

function readRow(row: BudgetRow): BudgetRecord {
  const readAt = Number(row.now);
  return {
    id: row.id,
    organizationId: row.organization_id,
    keyId: row.key_id,
    amount: row.amount,
    period: row.period,
    ...inRunningPeriod(row, readAt),
    held: row.held,
    createdAt: Number(row.created_at),
    version: Number(row.revision),
    readAt,
  };
}

/** A row for the audit, which has the revision of each change and its time anyway. */
function audited({ version: _version, readAt: _readAt, ...row }: BudgetRecord): NewBudget {
  return row;
}

function writeRow(budget: NewBudget, revision: bigint) {
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
