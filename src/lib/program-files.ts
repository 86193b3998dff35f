import { basename, join, resolve } from "node:path";

/**
 * Returns the path of one of the program's own folders. In a checkout, the folders are in the repository. In the
 * package and in the executable, built by `deploy/program.ts` from the lists below, the folders are next to each other.
 */
export function programFolder(folder: ProgramFolder): string {
  return IS_BUILT ? join(BUILT_FOLDER, basename(folder)) : join(PROGRAM_ROOT, folder);
}

/** Returns the address of a thread's script, for `new Worker`. */
export function threadScript(script: ThreadScript): URL {
  return Bun.pathToFileURL(
    IS_BUILT ? join(BUILT_FOLDER, basename(script).replace(/ts$/, "js")) : join(PROGRAM_ROOT, script),
  );
}

/** False in a checkout, which contains the source files. */
export const IS_BUILT = !import.meta.path.endsWith(".ts");
const BUILT_FOLDER = Bun.isStandaloneExecutable ? "/$bunfs/root" : import.meta.dir;

/** The folder of `package.json`, in a checkout. */
export const PROGRAM_ROOT = resolve(import.meta.dir, "../..");

/** The command that a user types to start this program. */
export const PROGRAM_NAME = IS_BUILT ? "gateway" : "npm start --";

/**
 * Folders that are read while the program runs. In a build, a folder is named by the last part of its path, so these
 * parts must differ.
 */
export const PROGRAM_FOLDERS = ["catalogue", "dist/console", "dist/docs"] as const;

/** Scripts that run as threads. Their file names must differ. */
export const THREAD_SCRIPTS = [
  "src/imaging/foreign-worker.ts",
  "src/imaging/png/png-thread.ts",
  "src/lib/token-counter/thread.ts",
  "src/storage/backup/sqlite-thread.ts",
  "src/storage/database/sqlite-upkeep-thread.ts",
  "src/storage/journal/ledger-writer-thread.ts",
  "src/storage/ledger-export/ledger-export-thread.ts",
  "src/storage/readings/readings-thread.ts",
  "src/telemetry/otlp/export-thread.ts",
] as const;

type ProgramFolder = (typeof PROGRAM_FOLDERS)[number];
export type ThreadScript = (typeof THREAD_SCRIPTS)[number];
