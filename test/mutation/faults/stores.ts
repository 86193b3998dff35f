import type { Fault } from "../fault.ts";

const LEDGER = "src/storage/stores/ledger.ts";
const CORRECTIONS = "src/storage/stores/corrections.ts";
const VERIFICATION = "src/storage/stores/verification.ts";
const SEQUENCE = "src/storage/database/ledger-sequence.ts";
const JOURNALS = "src/storage/stores/journal-verification.ts";
const ARCHIVE = "src/storage/stores/ledger-archive.ts";
const LOCKED = "src/storage/budgets/locked-budgets.ts";
const TAKE = "src/storage/budgets/take.ts";
const LEASES = "src/storage/budgets/leases.ts";
const DOUBT = "src/storage/budgets/leases-in-doubt.ts";
const PERIOD = "src/domain/budget-period.ts";
const CONNECT = "src/storage/database/postgres-connect.ts";

const money = ["test/contracts/storage-money.test.ts"];
const leases = ["test/contracts/leases.test.ts"];
const corrections = ["test/contracts/corrections.test.ts"];
const ledger = ["test/contracts/storage-ledger.test.ts"];
const sequence = ["test/contracts/ledger-sequence.test.ts"];
const upkeep = ["test/contracts/storage-upkeep.test.ts"];
const addresses = ["test/contracts/postgres-addresses.test.ts"];
const period = ["src/domain/budget-period.test.ts"];

/** Ledger, budgets and corrections in the database, and the way to it. */
export const STORE_FAULTS: readonly Fault[] = [
  {
    name: "an outcome is kept no longer than a claim",
    file: "src/storage/stores/outcomes.ts",
    find: "expires_at = ${storeTime(kind, sql)} + ${KEPT_MS}",
    replace: "expires_at = ${storeTime(kind, sql)} + ${CLAIM_MS}",
    tests: ["test/contracts/storage-outcomes.test.ts"],
  },
  {
    name: "a late renewal shortens the life of an outcome",
    file: "src/storage/stores/outcomes.ts",
    find: "WHERE ${isOwn(sql, claim)} AND status IS NULL`;\n      }),\n    complete",
    replace: "WHERE ${isOwn(sql, claim)}`;\n      }),\n    complete",
    tests: ["test/contracts/storage-outcomes.test.ts"],
  },
  {
    name: "a taking does not prolong the lease that it grows",
    file: "src/storage/budgets/take.ts",
    find: ", expires_at = excluded.expires_at`",
    replace: "`",
    tests: ["test/contracts/storage-money.test.ts"],
  },
  {
    name: "a refresh joins a poll that began before the change",
    file: "src/storage/snapshot/snapshot.ts",
    find: "    while (this.#polling) await this.#polling.catch(() => undefined);\n    await this.#startPoll();",
    replace: "    await (this.#polling ?? this.#startPoll());",
    tests: ["test/contracts/storage-snapshot.test.ts"],
  },
  {
    name: "a claim that takes an old outcome over keeps its status",
    file: "src/storage/stores/outcomes.ts",
    find: "status = NULL, headers = NULL, body = NULL, blob = NULL",
    replace: "headers = NULL, body = NULL, blob = NULL",
    tests: ["test/contracts/storage-outcomes.test.ts"],
  },
  {
    name: "a charge is posted without a check for one like it",
    file: LEDGER,
    find: "const booked = sorted.filter((entry) => isNew.has(nameOf(entry)));",
    replace: "const booked = sorted.filter((entry) => isNew.has(nameOf(entry)) || entry);",
    tests: money,
  },
  {
    name: "a budget has spent the same charge twice",
    file: LEDGER,
    find: "if (periodStart === budget.periodStart) budget.spent += amount;",
    replace: "if (periodStart === budget.periodStart) budget.spent += 2n * amount;",
    tests: money,
  },
  {
    name: "a charge of a period that is over counts in the running one",
    file: LEDGER,
    find: "budget && countsIn(budget, entry.at) ? budget.periodStart : 0",
    replace: "budget && countsIn(budget, Infinity) ? budget.periodStart : 0",
    tests: money,
  },
  {
    name: "a refund takes from the lease of a process",
    file: LEDGER,
    find: `if (entryKind === "charge") charged.set`,
    replace: "if (entryKind) charged.set",
    tests: money,
  },
  {
    name: "charges without budgets are not posted",
    file: LEDGER,
    find: `rows.size === 0 ? 0 : await database.insertRows("ledger", [...rows.keys()], additionOf(rows))`,
    replace: "rows.size",
    tests: money,
  },
  {
    name: "a cursor skips a row of the same millisecond",
    file: LEDGER,
    find: "AND (at, id) < (${below.at}, ${below.id})",
    replace: "AND at < ${below.at}",
    tests: ledger,
  },
  {
    name: "a posted charge stays held",
    file: LOCKED,
    find: "  budget.held -= moved < budget.held ? moved : budget.held;",
    replace: "",
    tests: money,
  },
  {
    name: "a lease returns more than it has",
    file: LOCKED,
    find: "const moved = amount < lease.amount ? amount : lease.amount;",
    replace: "const moved = amount;",
    tests: money,
  },
  {
    name: "a charge above its lease is not counted as drawn",
    file: LOCKED,
    find: "  lease.drawn += charged - moved;",
    replace: "  void moved;",
    tests: leases,
  },
  {
    name: "a new period begins with what was spent in the last",
    file: LOCKED,
    find: "spent: periodStart > startedAt ? 0n : row.spent",
    replace: "spent: row.spent",
    tests: money,
  },
  {
    name: "a budget grants more than it has left",
    file: TAKE,
    find: "const amount = smaller(wanted > needed ? wanted : needed, rest);",
    replace: "const amount = smaller(wanted > needed ? wanted : needed, rest * 2n);",
    tests: money,
  },
  {
    name: "a budget grants what other processes hold",
    file: TAKE,
    find: "const rest = budget.amount - budget.spent - budget.held;",
    replace: "const rest = budget.amount - budget.spent;",
    tests: money,
  },
  {
    name: "two requests for one budget are granted from the same rest",
    file: TAKE,
    find: "const merged = mergeRequests(requests);",
    replace: "const merged = mergeRequests([]).concat(requests);",
    tests: money,
  },
  {
    name: "a budget grants less than is needed",
    file: TAKE,
    find: "if (rest < needed) {",
    replace: "if (rest <= 0n && needed > 0n) {",
    tests: money,
  },
  {
    name: "budgets are held in part when one is exhausted",
    file: TAKE,
    find: "      return { exhausted: id, left: rest, heldByOthers };",
    replace: `      await growLeases(kind, sql, processId, granted);
      await saveBudgets(kind, sql, budgets.values());
      return { exhausted: id, left: rest, heldByOthers };`,
    tests: money,
  },
  {
    name: "a process that stops keeps what it holds",
    file: LEASES,
    find: "if (budget) returnFromLease(budget, lease, lease.amount);",
    replace: "void budget;",
    tests: money,
  },
  {
    name: "the sweep deletes a lease whose charges are not posted",
    file: LEASES,
    find: "WHERE amount = 0 AND expires_at",
    replace: "WHERE expires_at",
    tests: money,
  },
  {
    name: "a renewal does not lengthen a lease",
    file: LEASES,
    find: "SET expires_at = ${expiry(kind, sql)} WHERE",
    replace: "SET expires_at = expires_at WHERE",
    tests: money,
  },
  {
    name: "an operator writes off the leases of a running process",
    file: DOUBT,
    find: "WHERE amount > 0 AND expires_at < (SELECT ${storeTime(kind, sql)})",
    replace: "WHERE amount > 0",
    tests: money,
  },
  {
    name: "what is written off stays held",
    file: DOUBT,
    find: "if (lease && budget) returnFromLease(budget, lease, lease.amount);",
    replace: "",
    tests: money,
  },
  {
    name: "a refund reduces nothing",
    file: CORRECTIONS,
    find: "budget.spent += entry.amount;",
    replace: "budget.spent += 0n;",
    tests: corrections,
  },
  {
    name: "a refund of an earlier period reduces the running one",
    file: CORRECTIONS,
    find: ": booked === budget.periodStart)",
    replace: ": booked < Infinity)",
    tests: corrections,
  },
  {
    name: "a correction skips charges of the same millisecond",
    file: CORRECTIONS,
    find: "AND (at > ${after.at} OR id > ${after.id})",
    replace: "AND at > ${after.at}",
    tests: corrections,
  },
  {
    name: "two people correct the same charge from the same history",
    file: CORRECTIONS,
    find: "AND kind = 'charge' ORDER BY id ${forUpdate(kind, sql)}",
    replace: "AND kind = 'charge' ORDER BY id",
    tests: corrections,
  },
  {
    name: "a correction forgets the earlier ones",
    file: CORRECTIONS,
    find: "corrections: byCharge.get(charge.id) ?? []",
    replace: "corrections: [] && byCharge.get(charge.id)?.slice(0, 0) || []",
    tests: corrections,
  },
  {
    name: "the verification is blind to what was spent",
    file: VERIFICATION,
    find: "      ...(await spentDifferences(kind, sql)),\n",
    replace: "",
    tests: upkeep,
  },
  {
    name: "the verification is blind to what is held",
    file: VERIFICATION,
    find: "      ...(await heldDifferences(sql)),\n",
    replace: "",
    tests: upkeep,
  },
  {
    name: "the verification is blind to stray bookings",
    file: VERIFICATION,
    find: "      ...(await strayBookings(sql)),\n",
    replace: "",
    tests: upkeep,
  },
  {
    name: "the verification is blind to missing bookings",
    file: VERIFICATION,
    find: "      ...(await missingBookings(kind, sql)),\n",
    replace: "",
    tests: upkeep,
  },
  {
    name: "the verification is blind to a journal that differs",
    file: JOURNALS,
    find: "if (found !== amount)",
    replace: "if (found < 0n)",
    tests: upkeep,
  },
  {
    name: "the verification is blind to a charge that others were posted before",
    file: JOURNALS,
    find: "    differences.push(...(stale.get(processId) ?? []).map(unposted));\n",
    replace: "",
    tests: upkeep,
  },
  {
    name: "the verification is blind to charges that nobody posts",
    file: JOURNALS,
    find: "comparison.differences.push(unposted(entry))",
    replace: "unposted(entry)",
    tests: upkeep,
  },
  {
    name: "the verification is blind to refused entries",
    file: VERIFICATION,
    find: "[...(await readRefused(journals)), ...listQuarantined(journals)]",
    replace: "listQuarantined(journals)",
    tests: upkeep,
  },
  {
    name: "entries are removed by a file that has changed",
    file: ARCHIVE,
    find: "  if ((await fileHash(path)) !== sha256)\n    throw new Error(`${path} has changed",
    replace: "  if ((await fileHash(path)) === null)\n    throw new Error(`${path} has changed",
    tests: upkeep,
  },
  {
    name: "an archive loses the sum of an earlier one",
    file: ARCHIVE,
    find: "SET amount = ledger_bookings.amount + excluded.amount",
    replace: "SET amount = excluded.amount",
    tests: upkeep,
  },
  {
    name: "an archive skips the last id of a page",
    file: ARCHIVE,
    find: "last = whole.at(-1) ?? end;",
    replace: "last = end;",
    tests: upkeep,
  },
  {
    name: "a clock that jumps back begins an earlier period",
    file: PERIOD,
    find: ": Math.max(startedAt, start);",
    replace: ": start;",
    tests: period,
  },
  {
    name: "a period that a wrong clock began never ends",
    file: PERIOD,
    find: "return startedAt - now > MAX_AHEAD_MS[period] ? start : Math.max(startedAt, start);",
    replace: "return Math.max(startedAt, start);",
    tests: money,
  },
  {
    name: "a reader of the posting order does not wait for those that post",
    file: SEQUENCE,
    find: `  if (kind === "postgres") await untilEnded(database);\n`,
    replace: "",
    tests: sequence,
  },
  {
    name: "a poster shows itself only once it has its number",
    file: SEQUENCE,
    find: "    `SELECT pg_advisory_xact_lock_shared(${POSTING})`,\n",
    replace: "",
    tests: sequence,
  },
  {
    name: "a number that was promised to a reader is given again",
    file: SEQUENCE,
    find: "MAX(${NOW.sqlite}, promised + 1)",
    replace: "${NOW.sqlite}",
    tests: sequence,
  },
  {
    name: "a charge's time is not shifted to the store's clock",
    file: LEDGER,
    find: "at + now - Date.now()",
    replace: "at",
    tests: money,
  },
  {
    name: "a budget's period is shown by the process's clock",
    file: "src/storage/stores/budgets.ts",
    find: "const readAt = Number(row.now);",
    replace: "const readAt = Date.now();",
    tests: money,
  },
  {
    name: "a new budget's period is begun by the process's clock",
    file: "src/admin/budgets.ts",
    find: '=== "total" ? now : 0',
    replace: '=== "total" ? now : now - (now % 86_400_000)',
    tests: money,
  },
  {
    name: "alerts compare a budget in a period that is over",
    file: "src/storage/stores/alert-facts.ts",
    find: "...row }, now)",
    replace: "...row }, 0)",
    tests: ["test/contracts/alerts.test.ts"],
  },
  {
    name: "empty leases are reported in doubt",
    file: "src/storage/budgets/leases.ts",
    find: "rows.filter(({ amount }) => amount > 0n)",
    replace: "rows",
    tests: money,
  },
  {
    name: "the verification reckons a booking's period by its entry's time",
    file: "src/storage/stores/verification.ts",
    find: " AND ledger_bookings.period_start IS NULL`;",
    replace: "`;",
    tests: upkeep,
  },
  {
    name: "sslmode=require accepts any certificate",
    file: "src/lib/postgres-address.ts",
    find: '["require", "verify-full"]',
    replace: '["require", "no-verify"]',
    tests: ["src/lib/postgres-address.test.ts"],
  },
  {
    name: "a database on another machine is called in plain text",
    file: "src/lib/postgres-address.ts",
    find: 'isLocal ? "disable" : "verify-full"',
    replace: '"disable"',
    tests: ["src/lib/postgres-address.test.ts"],
  },
  {
    name: "transactions through a pooler have no settings",
    file: "src/storage/database/postgres.ts",
    find: "if (isPooled) await transaction.unsafe(connector.transactionSettings);",
    replace: "",
    tests: addresses,
  },
  {
    name: "a pooler that drops settings is not noticed",
    file: CONNECT,
    find: "if (!isPooled && row?.has_settings !== true) throw new SettingsDropped();",
    replace: "",
    tests: addresses,
  },
  {
    name: "statements are prepared by name through a pooler",
    file: CONNECT,
    find: "...(isPooled && { prepare: false }),",
    replace: "",
    tests: ["test/contracts/storage-money.test.ts"],
  },
  {
    name: "a server that only reads is used in place of the one that writes",
    file: CONNECT,
    find: "if (this.#servers.length > 1 && row?.only_reads",
    replace: "if (this.#servers.length > 9 && row?.only_reads",
    tests: addresses,
  },
  {
    name: "an ended connection goes back to its server after a failover",
    file: "src/storage/database/connection-pool.ts",
    find: " && !last.opened.hasEnded",
    replace: "",
    tests: addresses,
  },
];
