import type { Fault } from "../fault.ts";

const THREAD = "src/storage/database/sqlite-upkeep-thread.ts";

const damage = ["test/e2e/database-damage.test.ts"];
const backup = ["src/storage/backup/backup.test.ts"];
const restore = ["test/e2e/backup.test.ts"];
const locks = ["test/e2e/sqlite-locks.test.ts"];

/** That the database stays whole, is known to be, and can be had back. */
export const DATABASE_FAULTS: readonly Fault[] = [
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
    file: THREAD,
    find: "if (inodeOf(path) !== inode)",
    replace: "if (inodeOf(path) !== inode && path === location)",
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
    find: `{ status: "unready", reason }, { status: 503, headers }`,
    replace: `{ status: "unready", reason }, { headers }`,
    tests: damage,
  },
];
