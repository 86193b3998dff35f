import type { Fault } from "../fault.ts";

const THREAD = "src/storage/database/sqlite-upkeep-thread.ts";

const damage = ["test/e2e/database-damage.test.ts"];
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
    name: "a lost WAL goes unnoticed",
    file: THREAD,
    find: "if (inodeOf(path) !== inode)",
    replace: "if (inodeOf(path) !== inode && path === location)",
    tests: damage,
  },
  {
    name: "damage that a reading finds goes unnoticed",
    file: "src/storage/readings/readings-thread.ts",
    find: ", { onDamage: reportDamageAbove }",
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
