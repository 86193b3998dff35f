import { existsSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Progress } from "../../lib/progress.ts";
import { VERSION } from "../../lib/version.ts";
import { packFolder, syncPath } from "./archive.ts";
import type { DatabaseFacts } from "./database-facts.ts";
import { addJournals } from "./journals.ts";
import { MANIFEST, writeManifest, type BackupManifest } from "./manifest.ts";
import { dumpPostgres, type DumpedServer } from "./postgres-backup.ts";
import { doSqliteWork, type SqliteWork } from "./sqlite-work.ts";
import { systemClock } from "../../lib/clock.ts";

/** The parts of an installation on one machine that a backup and a restore work with. */
export interface Installation {
  /** A PostgreSQL database with the environment of its client programs, or the path of a SQLite file. */
  database: string | DumpedServer;
  /** The folder of all journals of this machine. */
  journals: string;
  /** Yields the stored pictures. The backup lists the pictures and does not copy them. */
  pictures(): AsyncIterable<{ name: string; size: number }>;
  /** Ids of the master keys. The first is the current key. */
  masterKeys: readonly string[];
}

/** Names of the files and of the folder of journals in a backup. */
export const DATABASE = { sqlite: "database.sqlite", postgres: "database.dump" } as const;
export const JOURNALS = "journal";
export const PICTURES = "pictures.jsonl";

/**
 * Writes a verified backup as one tar file, while gateways run. The backup contains every charge that this machine
 * journaled before the call. The file gets its final name only when it is complete; a killed process leaves
 * `<path>.partial`, which the next call with the same path removes. Throws an `Error` when the path exists or the copy
 * is damaged.
 */
export async function makeBackup(
  installation: Installation,
  path: string,
  onProgress: Progress,
): Promise<BackupManifest> {
  if (existsSync(path)) throw new Error(`${path} exists: name another file`);
  const folder = `${path}.partial`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  try {
    const content = join(folder, "content");
    await mkdir(join(content, JOURNALS), { recursive: true, mode: 0o700 });
    const manifest = await gather(installation, content, onProgress);
    onProgress("Writing the file.");
    const packed = join(folder, basename(path));
    await packFolder(content, packed, [MANIFEST], (done, total) =>
      onProgress("Writing the file.", done, total),
    );
    await rename(packed, path);
    await syncPath(dirname(path));
    return manifest;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function gather(
  { database, journals, pictures, masterKeys }: Installation,
  folder: string,
  onProgress: Progress,
): Promise<BackupManifest> {
  const copied = join(folder, JOURNALS);
  const isSqlite = typeof database === "string";
  // The journals are copied before the database. In the opposite order, a charge that moves from a journal to the
  // database between the two copies would be in neither copy.
  addJournals(journals, copied);
  onProgress("Copying the database.");
  const kind = isSqlite ? "sqlite" : "postgres";
  const copy = join(folder, DATABASE[kind]);
  const copyJournals = () => {
    // A process may have started after the first copy of the journals, and the copied database may contain its leases.
    // Only that process's journal can return their money, so the journals are copied again.
    addJournals(journals, copied);
    onProgress("Verifying the copy.");
    return copied;
  };
  const facts = isSqlite
    ? await copyAndVerify(database, copy, { copyJournals, onProgress })
    : await dumpPostgres(database, copy, { copyJournals, onProgress });
  onProgress("Listing pictures.");
  const listed = await listPictures(pictures(), join(folder, PICTURES), onProgress);
  const { entries, verification, migrations } = facts;
  return await writeManifest(folder, {
    format: 1,
    program: VERSION,
    madeAt: new Date(systemClock.now()).toISOString(),
    kind,
    migrations,
    masterKey: masterKeys[0] ?? null,
    ledgerEntries: entries,
    waitingCharges: verification.waiting,
    differences: verification.differenceCount,
    pictures: listed,
  });
}

async function copyAndVerify(
  database: string,
  copy: string,
  { copyJournals, onProgress }: { copyJournals: () => string; onProgress: Progress },
): Promise<DatabaseFacts> {
  await doSqliteWork({ kind: "copy", path: database, other: copy }, onProgress, "Copying the database.");
  const verification: SqliteWork = { kind: "verify", path: copy, other: copyJournals() };
  const facts = await doSqliteWork(verification, onProgress, "Verifying the copy.");
  if (!facts) throw new Error("the copy was not verified");
  return facts;
}

async function listPictures(
  pictures: AsyncIterable<{ name: string; size: number }>,
  path: string,
  onProgress: Progress,
) {
  const file = await open(path, "wx", 0o600);
  let count = 0;
  let bytes = 0;
  try {
    for await (const picture of pictures) {
      count += 1;
      bytes += picture.size;
      onProgress("Listing pictures.", count);
      await file.write(`${JSON.stringify(picture)}\n`);
    }
  } finally {
    await file.close();
  }
  return { count, bytes };
}
