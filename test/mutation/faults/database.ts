import type { Fault } from "../fault.ts";

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
];
