import { threadScript } from "../../lib/program-files.ts";
import { DependencyError } from "../../gateway/dependency-error.ts";
import type { StorageReport } from "../report.ts";
import type { BackgroundWork } from "../../lib/waiting.ts";

/**
 * Makes SQLite's WAL checkpoints on a thread of its own. A checkpoint waits for the disk, and SQLite would otherwise
 * make it on the thread that happens to commit. The new thread also checks every second that the files are readable and
 * not replaced. The caller's thread calls `onCheck` with the damage that the check or the checkpoint found, or with
 * null.
 */
export function startSqliteUpkeep(
  location: string,
  onCheck: (damage: string | null) => void,
  onProblem: StorageReport,
): BackgroundWork {
  const thread = new Worker(threadScript("src/storage/database/sqlite-upkeep-thread.ts"), {
    smol: true,
    argv: [location],
  });
  thread.addEventListener("message", ({ data }: MessageEvent<string | null>) => onCheck(data));
  thread.addEventListener("error", ({ message }) =>
    onProblem("WAL checkpoints and checks of the database have ended", message),
  );
  thread.unref();
  return {
    async stop() {
      thread.terminate();
    },
  };
}

/** Remembers damage of the database and logs it once. */
interface DamageReport {
  /** Records that a statement failed in a way that indicates damage. */
  failed(reason: string): void;
  /** Records the result of a check; null when the check found no damage. */
  checked(reason: string | null): void;
  /** Describes the damage of the database; null when none is known. */
  current(): string | null;
  /** Throws a `DependencyError` while the database is damaged. */
  verify(): void;
}

/**
 * Matches errors that may end by themselves, because a disk may recover. Other errors stay recorded: a page with wrong
 * content stays wrong even if the next check does not read the page.
 */
const PASSING = /SQLITE_IOERR/;

export function damageReport(report: StorageReport): DamageReport {
  let failure: string | null = null;
  let found: string | null = null;
  let isReported = false;
  const current = () => found ?? failure;
  const logChange = () => {
    const reason = current();
    if (reason !== null && !isReported)
      report(
        "the database is damaged: stop the gateway and run restore --force with a backup",
        reason,
        "error",
      );
    if (reason === null && isReported) report("the database can be read again", null, "info");
    isReported = reason !== null;
  };
  return {
    failed(reason) {
      failure ??= reason;
      logChange();
    },
    checked(reason) {
      found = reason;
      if (reason === null && failure !== null && PASSING.test(failure)) failure = null;
      logChange();
    },
    current,
    verify() {
      const reason = current();
      if (reason !== null) throw new DependencyError(`the database is damaged: ${reason}`);
    },
  };
}
