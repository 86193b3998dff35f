import type { Fault } from "../fault.ts";

const THREAD = "src/storage/database/sqlite-upkeep-thread.ts";

const damage = ["test/e2e/database-damage.test.ts"];
const backup = ["src/storage/backup/backup.test.ts"];
const restore = ["test/e2e/backup.test.ts"];
const exportEpochs = ["test/contracts/ledger-export-epochs.test.ts"];
const locks = ["test/e2e/sqlite-locks.test.ts"];

/** Faults that damage the database, hide damage, or spoil backups, restores or files of the ledger. */
export const DATABASE_FAULTS: readonly Fault[] = [
  {
    name: "posted segments are removed while the database that has their charges is lost",
    file: "src/storage/journal/recovery.ts",
    find: "  options.verifyDatabase();\n",
    replace: "",
    tests: damage,
  },
  {
    name: "an exporter that goes on for a killed one forgets the file that was begun",
    file: "src/storage/ledger-export/exporter.ts",
    find: "const { epoch, exported, begun } = cursor;",
    replace: "const { epoch, exported, begun } = { ...cursor, begun: null as typeof cursor.begun };",
    tests: ["test/contracts/ledger-export.test.ts"],
  },
  {
    name: "an exporter goes on in its epoch when the database has gone back in time",
    file: "src/storage/ledger-export/cursor.ts",
    find: " && Bun.deepEquals(left.cursor, cursorOf(row))",
    replace: "",
    tests: exportEpochs,
  },
  {
    name: "an exporter that takes over goes on in the epoch of the one before",
    file: "src/storage/ledger-export/cursor.ts",
    find: "isAsLeft(row) && row.until_time > now",
    replace: "row.epoch > 0",
    tests: exportEpochs,
  },
  {
    name: "an epoch is below one that the database has forgotten, where its clock is late",
    file: "src/storage/ledger-export/cursor.ts",
    find: ", highestEpoch + 1)",
    replace: ")",
    tests: exportEpochs,
  },
  {
    name: "a file of the ledger that was begun is written again in another format",
    file: "src/storage/ledger-export/exporter.ts",
    find: "const file = begun ?? {",
    replace: "const file = begun ? { ...begun, format } : {",
    tests: ["test/contracts/ledger-export.test.ts"],
  },
  {
    name: "another storage gets the ledger from where the one before had it",
    file: "src/lib/s3-address.ts",
    find: "endpoint === undefined ? null",
    replace: "endpoint !== null ? null",
    tests: ["test/contracts/ledger-export.test.ts"],
  },
  {
    name: "a SQLite file that was replaced takes writes",
    file: "src/storage/database/sqlite.ts",
    find: "    verifyFiles();\n    const result = await work();\n    verifyFiles();\n",
    replace: "    const result = await work();\n",
    tests: ["src/storage/database/sqlite.test.ts"],
  },
  {
    name: "the WAL of a lost database is read with the file that replaced it",
    file: THREAD,
    find: "    files.separateWal();\n",
    replace: "",
    tests: damage,
  },
  {
    name: "a database that exists is opened beside SQLite, which drops its locks",
    file: "src/storage/private-files.ts",
    find: `openSync(path, "ax", FILE_MODE)`,
    replace: `openSync(path, "a", FILE_MODE)`,
    tests: locks,
  },
  {
    name: "a backup lacks a charge that is posted while the database is copied",
    file: "src/storage/backup/backup.ts",
    find: `  addJournals(journals, copied);
  onProgress("Copying the database.");`,
    replace: `  onProgress("Copying the database.");`,
    tests: backup,
  },
  {
    name: "a backup lacks the journal of a process that has just started",
    file: "src/storage/backup/backup.ts",
    find: `    addJournals(journals, copied);
    onProgress("Verifying the copy.");`,
    replace: `    onProgress("Verifying the copy.");`,
    tests: backup,
  },
  {
    name: "a damaged copy of the database is taken for a backup",
    file: "src/storage/backup/sqlite-backup.ts",
    find: "if (problems.length > 0)",
    replace: "if (problems.length > 10)",
    tests: ["src/storage/backup/sqlite-backup.test.ts"],
  },
  {
    name: "a restore loses what a journal has beyond the backup",
    file: "src/storage/backup/journals.ts",
    find: "statSync(target).size >= statSync(path).size",
    replace: "statSync(target).size < statSync(path).size",
    tests: backup,
  },
  {
    name: "a damaged backup is restored",
    file: "src/storage/backup/manifest.ts",
    find: "if (damaged.length > 0)",
    replace: "if (damaged.length > 1)",
    tests: restore,
  },
  {
    name: "a database is replaced under a command that works on it",
    file: "src/storage/backup/restore.ts",
    find: "if (hasOwner(journals) || (isSqlite && isSqliteInUse(database)))",
    replace: "if (hasOwner(journals))",
    tests: restore,
  },
  {
    name: "a lost WAL goes unnoticed",
    file: "src/storage/database/opened-files.ts",
    find: "[database, wal].find(",
    replace: "[database].find(",
    tests: damage,
  },
  {
    name: "damage that a reading finds goes unnoticed",
    file: "src/storage/readings/readings-thread.ts",
    find: "      onDamage: reportDamageAbove,\n",
    replace: "",
    tests: damage,
  },
  {
    name: "a process with a damaged database is ready",
    file: "src/server/endpoints/health.ts",
    find: `return Response.json(body, { status: 503, headers });`,
    replace: `return Response.json(body, { headers });`,
    tests: damage,
  },
  {
    name: "what SQLite had beside a replaced database is applied to the restored one",
    file: "src/storage/database/opened-files.ts",
    find: `const SQLITE_SUFFIXES = ["", "-wal", "-shm"] as const;`,
    replace: `const SQLITE_SUFFIXES = [""] as const;`,
    tests: ["src/storage/backup/sqlite-backup.test.ts"],
  },
  {
    name: "a backup of a newer version is restored",
    file: "src/storage/backup/restore.ts",
    find: "if (migrations > MIGRATIONS.length)",
    replace: "if (migrations > 10 * MIGRATIONS.length)",
    tests: backup,
  },
  {
    name: "a backup with entries missing in its ledger is restored",
    file: "src/storage/backup/restore.ts",
    find: "if (entries !== ledgerEntries)",
    replace: "if (entries < 0 * ledgerEntries)",
    tests: backup,
  },
  {
    name: "the journals of a backup are not restored",
    file: "src/storage/backup/restore.ts",
    find: "  addJournals(copied, journals);\n  const replaced",
    replace: "  const replaced",
    tests: backup,
  },
  {
    name: "a backup without one of its files is restored",
    file: "src/storage/backup/manifest.ts",
    find: "new Set([...Object.keys(found), ...Object.keys(read.data.files)])",
    replace: "new Set(Object.keys(found))",
    tests: backup,
  },
];
