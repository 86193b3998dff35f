import type { Nanos } from "../../lib/money.ts";
import type { Integer } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { compareJournals, listQuarantined, readRefused } from "./journal-verification.ts";
import type { LedgerDifference, LedgerVerification } from "../../admin/ledger/verification-schema.ts";
import { systemClock } from "../../lib/clock.ts";

/** Maximum number of differences in the result. `MAX_COUNTED` limits the count of one check of bookings. */
const MAX_NAMED = 100;
const MAX_COUNTED = 10_000;

/** Entry and kind of the booking that replaces the archived bookings of a budget. */
export const ARCHIVED = "archived";

/**
 * Compares, in one consistent state of the database, the spent and held amounts of budgets with bookings and leases,
 * bookings with entries, and the journals of this machine with the ledger. Writes only the row that metrics are read
 * from. `journals` is the folder of all journals, null when there is none.
 */
export async function verifyLedger(database: Database, journals: string | null): Promise<LedgerVerification> {
  const at = systemClock.now();
  const { kind } = database;
  const found = await database.readConsistently(async (sql) => {
    const journaled = journals === null ? NO_JOURNALS : await compareJournals(kind, sql, journals);
    const stored = [
      ...(await spentDifferences(sql)),
      ...(await heldDifferences(sql)),
      ...(await strayBookings(sql)),
      ...(await missingBookings(kind, sql)),
    ];
    const local = journals === null ? [] : [...(await readRefused(journals)), ...listQuarantined(journals)];
    const differences = [...stored, ...journaled.differences, ...local];
    const [count] = await sql<{ entries: Integer; budgets: Integer }[]>`
      SELECT (SELECT COUNT(*) FROM ledger) AS entries, (SELECT COUNT(*) FROM budgets) AS budgets`;
    return { differences, storedCount: stored.length, waiting: journaled.waiting, ...count };
  });
  // All machines share this row, so it does not count differences of the journals, which belong to one machine.
  await database.begin(
    (sql) => sql`INSERT INTO ledger_verification (id, at, differences) VALUES (1, ${at}, ${found.storedCount})
      ON CONFLICT (id) DO UPDATE SET at = excluded.at, differences = excluded.differences`,
  );
  return {
    at,
    entries: Number(found.entries ?? 0),
    budgets: Number(found.budgets ?? 0),
    waiting: found.waiting,
    differenceCount: found.differences.length,
    differences: found.differences.slice(0, MAX_NAMED),
  };
}

const NO_JOURNALS = { waiting: 0, differences: [] };

/** Returns the time of the ledger's last verification (Unix milliseconds; 0: never) and the number of differences. */
export async function readVerification(database: Database): Promise<{ at: number; differences: number }> {
  const [row] = await database.read(
    (sql) => sql<{ at: Integer; differences: Integer }[]>`SELECT at, differences FROM ledger_verification`,
  );
  return { at: Number(row?.at ?? 0), differences: Number(row?.differences ?? 0) };
}

interface Sums {
  id: string;
  expected: string;
  found: bigint;
}

function asDifference(check: LedgerDifference["check"]) {
  return ({ id, expected, found }: Sums): LedgerDifference => ({
    check,
    subject: id,
    expected: BigInt(expected),
    found,
  });
}

/** Returns the budgets whose `spent` is not the sum of their bookings, in total or in the running period. */
async function spentDifferences(sql: Sql): Promise<LedgerDifference[]> {
  const rows = await sql<Sums[]>`
    SELECT budgets.id, CAST(COALESCE(SUM(ledger_bookings.amount), 0) AS TEXT) AS expected, budgets.spent AS found
      FROM budgets LEFT JOIN ledger_bookings ON ledger_bookings.budget = budgets.id
        AND (budgets.period = 'total' OR ledger_bookings.period_start = budgets.period_start)
      GROUP BY budgets.id, budgets.spent
      HAVING COALESCE(SUM(ledger_bookings.amount), 0) <> budgets.spent ORDER BY budgets.id`;
  return rows.map(asDifference("spent"));
}

/** Returns the budgets whose `held` is not the sum of all leases on them. */
async function heldDifferences(sql: Sql): Promise<LedgerDifference[]> {
  const rows = await sql<Sums[]>`
    SELECT budgets.id, CAST(COALESCE(SUM(leases.amount), 0) AS TEXT) AS expected, budgets.held AS found
      FROM budgets LEFT JOIN leases ON leases.budget = budgets.id GROUP BY budgets.id, budgets.held
      HAVING COALESCE(SUM(leases.amount), 0) <> budgets.held ORDER BY budgets.id`;
  return rows.map(asDifference("held"));
}

interface Booking {
  id: string;
  budget: string;
  expected: Nanos | null;
  found: Nanos | null;
}

/** Returns bookings without an entry, or with another amount than their entry. */
async function strayBookings(sql: Sql): Promise<LedgerDifference[]> {
  const rows = await sql<Booking[]>`
    SELECT entry AS id, budget, ledger.amount AS expected, ledger_bookings.amount AS found
      FROM ledger_bookings LEFT JOIN ledger ON ledger.id = entry AND ledger.kind = ledger_bookings.kind
      WHERE ledger_bookings.kind <> ${ARCHIVED} AND (ledger.id IS NULL OR ledger.amount <> ledger_bookings.amount)
      LIMIT ${MAX_COUNTED}`;
  return rows.map(bookingDifference);
}

/** Returns entries that lack a booking on one of their budgets. */
async function missingBookings(kind: Database["kind"], sql: Sql): Promise<LedgerDifference[]> {
  const named =
    kind === "postgres"
      ? sql`json_array_elements_text(CAST(ledger.budgets AS json)) AS named (value)`
      : sql`json_each(ledger.budgets) AS named`;
  const rows = await sql<Booking[]>`
    SELECT ledger.id, named.value AS budget, ledger.amount AS expected, ledger_bookings.amount AS found
      FROM ledger CROSS JOIN ${named} LEFT JOIN ledger_bookings ON ledger_bookings.budget = named.value
        AND entry = ledger.id AND ledger_bookings.kind = ledger.kind
      WHERE ledger.budgets <> '[]' AND entry IS NULL LIMIT ${MAX_COUNTED}`;
  return rows.map(bookingDifference);
}

function bookingDifference({ id, budget, expected, found }: Booking): LedgerDifference {
  return { check: "booking", subject: `${id} on ${budget}`, expected, found };
}
