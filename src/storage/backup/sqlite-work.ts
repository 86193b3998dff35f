import { statSync } from "node:fs";
import { threadScript } from "../../lib/program-files.ts";
import { reportWhile, type Progress } from "../../lib/progress.ts";
import { calledThread } from "../thread/called-thread.ts";
import type { DatabaseFacts } from "./database-facts.ts";

/**
 * `copy` copies `path` to `other`. `migrate` migrates the copy at `path`. `verify` verifies the copy at `path` with the
 * journals in the folder `other`.
 */
export interface SqliteWork {
  kind: "copy" | "migrate" | "verify";
  path: string;
  other: string;
}

export type SqliteWorkResult = { facts: DatabaseFacts | null } | { problem: string };

const SCRIPT = threadScript("src/storage/backup/sqlite-thread.ts");
/** Time after which the thread is considered dead. Work on any SQLite file takes less time. */
const PATIENCE_MS = 24 * 60 * 60_000;

/** Does work on a whole SQLite file in a thread of its own. Throws the error of the work or of `onProgress`. */
export async function doSqliteWork(
  work: SqliteWork,
  onProgress: Progress,
  step: string,
): Promise<DatabaseFacts | null> {
  const thread = calledThread<SqliteWork, SqliteWorkResult>({
    name: "the thread that reads the database",
    script: SCRIPT,
    setup: {},
    patienceMs: PATIENCE_MS,
    onProblem: () => {},
  });
  const report = () => {
    if (work.kind === "copy") onProgress(step, sizeOf(work.other), sizeOf(work.path));
    else onProgress(step, 0);
  };
  const result = await reportWhile(thread.call(work), report);
  await thread.close();
  if ("problem" in result) throw new Error(result.problem);
  return result.facts;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
