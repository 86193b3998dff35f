import { nextTurn } from "../../lib/waiting.ts";
import type { BudgetStore } from "../../gateway/metering/stores.ts";
import type { Nanos } from "../../lib/money.ts";
import { jsonRows, storeTime } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { lockBudgets, lockLeases, returnFromLease, saveBudgets, saveLeases } from "./locked-budgets.ts";
import { expiry, take, WANTED_MS } from "./take.ts";

/**
 * Budgets, and the leases of processes on them. A take never raises `spent + held` above the amount of a budget, and
 * `held` is always the sum of the leases. The amount of a lease is the money drawn from the budget minus the posted
 * charges.
 */
export interface LeaseStore extends BudgetStore {
  /**
   * Moves all money of a process's leases back to the budgets. Call this method when the process ends. For a process
   * that has already ended, call it after the process's journal is posted.
   */
  release(processId: string): Promise<void>;
  /**
   * Returns the processes whose leases contain money but were not renewed in time. The money stays held, because
   * charges may still be in a journal. The money is released when the journal is posted, or when an operator writes the
   * leases off. Also deletes empty leases that expired more than a day ago.
   */
  processesInDoubt(): Promise<string[]>;
}

/** Timeout of a take. A request waits for the take, so this timeout is shorter than the timeout of other calls. */
const TAKE_TIMEOUT_MS = 1000;

/**
 * Maximum number of leases changed in one transaction. On SQLite the transaction occupies the thread of requests; on
 * PostgreSQL it blocks other transactions.
 */
export const LEASES_A_TRANSACTION = 250;

export function leaseStore(database: Database): LeaseStore {
  const { kind } = database;
  return {
    take: (processId, requests) =>
      database.begin((sql) => take(kind, sql, processId, requests), TAKE_TIMEOUT_MS),
    async giveBack(processId, amounts) {
      for await (const page of pagesOf([...amounts]))
        await database.begin((sql) => giveBack(kind, sql, processId, new Map(page)));
    },
    async close(processId, amounts) {
      for await (const page of pagesOf([...amounts]))
        await database.begin(async (sql) => {
          await giveBack(kind, sql, processId, new Map(page));
          await deleteEmpty(kind, sql, processId, new Map(page).keys());
        });
    },
    async renew(processId, budgets) {
      const drawn = new Map<string, Nanos>();
      for await (const page of pagesOf([...budgets]))
        await database.begin(async (sql) => {
          const leases = await lockLeases(kind, sql, processId, page);
          await sql`UPDATE leases SET expires_at = ${expiry(kind, sql)} WHERE lease = ${processId}
            AND budget IN (SELECT value ->> 0 FROM ${jsonRows(kind, sql, tuplesOf(leases.keys()))})`;
          for (const [budget, lease] of leases) drawn.set(budget, lease.drawn);
        });
      return drawn;
    },
    contended: (processId) => contended(database, processId),
    async release(processId) {
      for (;;) {
        const rows = await database.read(
          (sql) => sql<{ budget: string }[]>`SELECT budget FROM leases
            WHERE lease = ${processId} ORDER BY budget LIMIT ${LEASES_A_TRANSACTION}`,
        );
        if (rows.length === 0) return;
        await database.begin((sql) =>
          releasePage(
            kind,
            sql,
            processId,
            rows.map(({ budget }) => budget),
          ),
        );
        await nextTurn();
      }
    },
    processesInDoubt: () => processesInDoubt(database),
  };
}

async function processesInDoubt(database: Database): Promise<string[]> {
  const { kind } = database;
  const rows = await database.read(
    (sql) => sql<{ lease: string; amount: bigint; since: bigint; now: bigint }[]>`
          SELECT lease, MAX(amount) AS amount, MIN(expires_at) AS since, ${storeTime(kind, sql)} AS now
          FROM leases WHERE expires_at < (SELECT ${storeTime(kind, sql)}) GROUP BY lease`,
  );
  if (rows.some(({ since, now }) => now - since > FORGOTTEN_MS))
    await database.begin(
      (sql) => sql`DELETE FROM leases
            WHERE amount = 0 AND expires_at < (SELECT ${storeTime(kind, sql)}) - ${FORGOTTEN_MS}`,
    );
  return rows.filter(({ amount }) => amount > 0n).map(({ lease }) => lease);
}

/**
 * Time for which an empty lease stays after its expiry, so that a process that was cut off can find out that the lease
 * has ended.
 */
const FORGOTTEN_MS = 24 * 60 * 60_000;

const MAX_WANTED = 1000;

async function giveBack(
  kind: Database["kind"],
  sql: Sql,
  processId: string,
  amounts: ReadonlyMap<string, Nanos>,
): Promise<void> {
  const budgets = await lockBudgets(kind, sql, amounts.keys());
  const leases = await lockLeases(kind, sql, processId, budgets.keys());
  for (const [id, lease] of leases) {
    const budget = budgets.get(id);
    if (budget) returnFromLease(budget, lease, amounts.get(id) ?? 0n);
  }
  await saveLeases(kind, sql, processId, leases);
  await saveBudgets(kind, sql, budgets.values());
}

/** Moves all money of the leases with this name back to the budgets, within the caller's transaction. */
export async function releaseLease(kind: Database["kind"], sql: Sql, lease: string): Promise<void> {
  const rows = await sql<{ budget: string }[]>`SELECT budget FROM leases WHERE lease = ${lease}`;
  if (rows.length === 0) return;
  await releasePage(
    kind,
    sql,
    lease,
    rows.map(({ budget }) => budget),
  );
}

async function releasePage(
  kind: Database["kind"],
  sql: Sql,
  processId: string,
  page: readonly string[],
): Promise<void> {
  const budgets = await lockBudgets(kind, sql, page);
  const leases = await lockLeases(kind, sql, processId, page);
  for (const [id, lease] of leases) {
    const budget = budgets.get(id);
    if (budget) returnFromLease(budget, lease, lease.amount);
    // A lease that still contains money belonged to a budget that was removed.
    lease.amount = 0n;
  }
  await saveLeases(kind, sql, processId, leases);
  await saveBudgets(kind, sql, budgets.values());
  await deleteEmpty(kind, sql, processId, leases.keys());
}

async function deleteEmpty(
  kind: Database["kind"],
  sql: Sql,
  processId: string,
  budgets: Iterable<string>,
): Promise<void> {
  await sql`DELETE FROM leases WHERE lease = ${processId} AND amount = 0
    AND budget IN (SELECT value ->> 0 FROM ${jsonRows(kind, sql, tuplesOf(budgets))})`;
}

/**
 * Finds the wanted budgets on which this process has a lease with money. Makes at most two queries, so that the cost
 * depends neither on the number of budgets nor on the number of the process's leases.
 */
async function contended(database: Database, processId: string): Promise<ReadonlySet<string>> {
  const { kind } = database;
  const wanted = await database.read(
    (sql) => sql<{ id: string }[]>`SELECT id FROM budgets
      WHERE wanted_until BETWEEN (SELECT ${storeTime(kind, sql)}) AND (SELECT ${storeTime(kind, sql)}) + ${WANTED_MS}
      LIMIT ${MAX_WANTED}`,
  );
  if (wanted.length === 0) return new Set();
  const ids = tuplesOf(wanted.map(({ id }) => id));
  const rows = await database.read(
    (sql) => sql<{ budget: string }[]>`SELECT budget FROM leases WHERE lease = ${processId} AND amount > 0
      AND budget IN (SELECT value ->> 0 FROM ${jsonRows(kind, sql, ids)})`,
  );
  return new Set(rows.map((row) => row.budget));
}

/** Splits changes into one group for each transaction. Requests get a turn of the event loop between two groups. */
async function* pagesOf<T>(items: readonly T[]): AsyncGenerator<T[]> {
  for (let start = 0; start < items.length; start += LEASES_A_TRANSACTION) {
    if (start > 0) await nextTurn();
    yield items.slice(start, start + LEASES_A_TRANSACTION);
  }
}

function tuplesOf(ids: Iterable<string>): [string][] {
  return Array.from(ids, (id) => [id]);
}
