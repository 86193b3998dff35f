import { basename, join, resolve } from "node:path";

/**
 * Says where the program's own files are: beside the sources, or inside the one-file executable, which
 * `deploy/executable.ts` builds of these lists.
 */
export function programFolder(folder: ProgramFolder): string {
  return Bun.isStandaloneExecutable ? join(EMBEDDED, basename(folder)) : join(PROGRAM_ROOT, folder);
}

/** Returns the address of a thread's script, for `new Worker`. */
export function threadScript(script: ThreadScript): URL {
  return Bun.isStandaloneExecutable
    ? new URL(`file://${EMBEDDED}/${script.replace(/ts$/, "js")}`)
    : Bun.pathToFileURL(join(PROGRAM_ROOT, script));
}

/** The folder of `package.json`. There is none inside the executable. */
export const PROGRAM_ROOT = resolve(import.meta.dir, "../..");

/** What a user types before a command: in a checkout by npm, else by the name of the package's `bin` and the executable. */
export const PROGRAM_NAME =
  Bun.isStandaloneExecutable || PROGRAM_ROOT.includes("/node_modules/") ? "gateway" : "npm start --";

/** Folders that are read while the program runs. Their last names differ, which are their names in the executable. */
export const PROGRAM_FOLDERS = ["catalogue", "dist/console", "src/server/docs-page"] as const;

/** Scripts that run as threads. */
export const THREAD_SCRIPTS = [
  "src/imaging/foreign-worker.ts",
  "src/lib/token-counter/thread.ts",
  "src/storage/database/sqlite-upkeep-thread.ts",
  "src/storage/journal/ledger-writer-thread.ts",
  "src/storage/readings/readings-thread.ts",
] as const;

type ProgramFolder = (typeof PROGRAM_FOLDERS)[number];
type ThreadScript = (typeof THREAD_SCRIPTS)[number];

/** The folder in which the runtime shows the files of an executable. */
const EMBEDDED = "/$bunfs/root";
