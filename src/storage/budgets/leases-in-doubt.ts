import type { Database, Sql } from "../database/sql.ts";
import type { LeaseInDoubt } from "../../admin/budgets/schema.ts";
import type { Actor } from "../../admin/actor.ts";
import { money, named, table, text, time, type Row } from "../database/table.ts";
import { makeChange } from "../tables/change.ts";
import { LEASES_A_TRANSACTION, type LeaseStore } from "./leases.ts";
import { lockBudgets, lockLeases, returnFromLease, saveBudgets, saveLeases } from "./locked-budgets.ts";
import { storeTime } from "../database/expressions.ts";
import type { StorageReport } from "../report.ts";

const inDoubt = table<LeaseInDoubt>("leases", {
  processId: named("lease", text()),
  budget: text(),
  amount: money(),
  since: named("expires_at", time()),
});

/** Returns the leases that contain money and were not renewed in time, ordered by process and budget. */
export async function leasesInDoubt(database: Database): Promise<LeaseInDoubt[]> {
  return await database.read((sql) => find(database.kind, sql, {}));
}

/**
 * Moves the money of a process's leases in doubt back to the budgets, in steps with one audit row each. The emptied
 * leases stay for a while, so that a process that was only cut off from the database finds them empty.
 */
export async function writeOffLeases(
  database: Database,
  processId: string,
  by: Actor,
): Promise<LeaseInDoubt[]> {
  const { kind } = database;
  const change = { by, kind: "budget", action: "update", subject: processId } as const;
  const filter = { processId, limit: LEASES_A_TRANSACTION };
  const written: LeaseInDoubt[] = [];
  for (;;) {
    let page: LeaseInDoubt[] = [];
    await makeChange(database, change, async (sql) => {
      const candidates = (await find(kind, sql, filter)).map(({ budget }) => budget);
      const budgets = await lockBudgets(kind, sql, candidates);
      const leases = await lockLeases(kind, sql, processId, candidates);
      // The process may have renewed leases while this transaction waited for the locks.
      page = (await find(kind, sql, filter)).filter(({ budget }) => leases.has(budget));
      for (const row of page) {
        const lease = leases.get(row.budget);
        const budget = budgets.get(row.budget);
        if (lease && budget) returnFromLease(budget, lease, lease.amount);
      }
      await saveLeases(kind, sql, processId, leases);
      await saveBudgets(kind, sql, budgets.values());
      return page.length === 0 ? null : { before: { inDoubt: page }, after: { inDoubt: [] } };
    });
    if (page.length === 0) return written;
    written.push(...page);
  }
}

async function find(
  kind: Database["kind"],
  sql: Sql,
  { processId, limit }: { processId?: string; limit?: number },
): Promise<LeaseInDoubt[]> {
  const rows = await sql<Row[]>`SELECT ${sql.unsafe(inDoubt.columns)} FROM leases
    WHERE amount > 0 AND expires_at < (SELECT ${storeTime(kind, sql)})
      ${processId === undefined ? sql`` : sql`AND lease = ${processId}`}
    ORDER BY lease, budget ${limit === undefined ? sql`` : sql`LIMIT ${limit}`}`;
  return rows.map(inDoubt.read);
}

/** Returns a check that reports the processes whose leases have come into doubt since the previous check. */
export function inDoubtReport(leases: LeaseStore, onProblem: StorageReport): () => Promise<void> {
  let reported = new Set<string>();
  return async () => {
    const inDoubt = new Set(await leases.processesInDoubt());
    for (const processId of inDoubt.difference(reported))
      onProblem(`process ${processId} is gone without its journal posted; what it held stays held`, null);
    reported = inDoubt;
  };
}
