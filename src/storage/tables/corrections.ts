import type { ChargeHistory, LedgerAdminStore } from "../../admin/ledger/store-port.ts";
import type { LedgerEntry } from "../../domain/ledger.ts";
import { makeChange } from "./change.ts";
import { readEntryRow, writeEntryRow } from "./booking.ts";
import { forUpdate, type Integer, padded } from "../database/expressions.ts";
import { lockBudgets, saveBudgets } from "../budgets/locked-budgets.ts";
import { nextSequence } from "../database/ledger-sequence.ts";
import { addSums } from "../database/insert-statement.ts";
import type { Database, Sql } from "../database/sql.ts";
import type { Row } from "../database/table.ts";
import { usageSums } from "./usage-sums.ts";

/**
 * Corrections of charges. They are read with the charges that they correct, and written one after another when several
 * people correct the same charge.
 */
export function correctionStore(
  database: Database,
): Pick<LedgerAdminStore, "history" | "charges" | "correct"> {
  const { kind } = database;
  return {
    history: (charge) =>
      database.read(async (sql) => {
        const rows = await sql<Row[]>`SELECT * FROM ledger WHERE id = ${charge} AND kind = 'charge'`;
        const [history] = await withCorrections(sql, rows.map(readEntryRow));
        return history ?? null;
      }),
    charges: ({ organizationId, model, from, to, after }) =>
      database.read(async (sql) => {
        // Charges of all models are read and then filtered, so that a page takes the same time even for a rare model.
        const rows = await sql<Row[]>`SELECT * FROM ledger
          WHERE organization_id = ${organizationId} AND kind = 'charge' AND at >= ${after?.at ?? from} AND at < ${to}
            ${after ? sql`AND (at > ${after.at} OR id > ${after.id})` : sql``}
          ORDER BY at, id LIMIT ${PAGE}`;
        const charges = rows.map(readEntryRow);
        const last = charges.at(-1);
        return {
          histories: await withCorrections(
            sql,
            charges.filter((charge) => charge.model === model),
          ),
          next: last && charges.length === PAGE ? { at: last.at, id: last.id } : null,
        };
      }),
    async correct(charges, decide, note) {
      let written: LedgerEntry[] = [];
      const work = async (sql: Sql) => {
        const histories = await withCorrections(sql, await lockCharges(kind, sql, charges));
        const decided = histories.map((history) => ({ history, entry: decide(history) }));
        written = decided.flatMap(({ entry }) => entry ?? []);
        await writeCorrections(kind, sql, decided);
      };
      if (!note) await database.begin(work);
      else {
        const { by, action, subject } = note;
        const change = { by, kind: "ledger", action, subject } as const;
        await makeChange(database, change, async (sql) => {
          await work(sql);
          const [first] = written;
          return first ? { before: null, after: note.detail, organizationId: first.organizationId } : null;
        });
      }
      return written;
    },
  };
}

/** Number of charges that one call of `charges` reads. */
const PAGE = 200;

async function lockCharges(kind: Database["kind"], sql: Sql, ids: readonly string[]): Promise<LedgerEntry[]> {
  if (ids.length === 0) return [];
  const rows = await sql<Row[]>`SELECT * FROM ledger
    WHERE id IN ${sql(padded(ids))} AND kind = 'charge' ORDER BY id ${forUpdate(kind, sql)}`;
  return rows.map(readEntryRow);
}

async function withCorrections(sql: Sql, charges: readonly LedgerEntry[]): Promise<ChargeHistory[]> {
  if (charges.length === 0) return [];
  const rows = await sql<Row[]>`SELECT * FROM ledger
    WHERE corrects IN ${sql(padded(charges.map((charge) => charge.id)))} ORDER BY at, length(id), id`;
  const byCharge = Map.groupBy(rows.map(readEntryRow), (entry) => entry.corrects);
  return charges.map((charge) => ({ charge, corrections: byCharge.get(charge.id) ?? [] }));
}

async function writeCorrections(
  kind: Database["kind"],
  sql: Sql,
  decided: readonly { history: ChargeHistory; entry: LedgerEntry | null }[],
): Promise<void> {
  const bookings = decided.flatMap(({ history, entry }) =>
    [...new Set(entry?.budgets)].map((budget) => ({ budget, entry, charge: history.charge })),
  );
  const sequence = await nextSequence(kind, sql);
  for (const { entry } of decided)
    if (entry) await sql`INSERT INTO ledger ${sql(writeEntryRow(entry, sequence))}`;
  const budgets = await lockBudgets(
    kind,
    sql,
    bookings.map(({ budget }) => budget),
  );
  const periods = await periodsOfCharges(sql, bookings);
  for (const { budget: id, entry, charge } of bookings) {
    if (!entry) continue;
    const budget = budgets.get(id);
    // A correction changes `spent` only while the period of its charge runs. Later it counts in no period.
    const counts = budget && periods.get(`${id} ${charge.id}`) === budget.periodStart;
    await sql`INSERT INTO ledger_bookings (budget, entry, kind, amount, period_start)
      VALUES (${id}, ${entry.id}, ${entry.kind}, ${entry.amount}, ${counts ? budget.periodStart : 0})`;
    if (counts) budget.spent += entry.amount;
  }
  await saveBudgets(kind, sql, budgets.values());
  await addSums(kind, sql, usageSums(decided.flatMap(({ entry }) => entry ?? [])));
}

/** Returns the start of the period that each charge counts in, by budget and charge. */
async function periodsOfCharges(
  sql: Sql,
  bookings: readonly { budget: string; charge: LedgerEntry }[],
): Promise<Map<string, number>> {
  if (bookings.length === 0) return new Map();
  const budgets = padded([...new Set(bookings.map(({ budget }) => budget))]);
  const charges = padded([...new Set(bookings.map(({ charge }) => charge.id))]);
  const rows = await sql<{ budget: string; entry: string; period_start: Integer | null }[]>`
    SELECT budget, entry, period_start FROM ledger_bookings
      WHERE budget IN ${sql(budgets)} AND entry IN ${sql(charges)} AND kind = 'charge'`;
  return new Map(
    rows.flatMap((row) =>
      row.period_start === null ? [] : [[`${row.budget} ${row.entry}`, Number(row.period_start)]],
    ),
  );
}
