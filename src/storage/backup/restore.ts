import { createReadStream, existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { MIGRATIONS } from "../database/migrate.ts";
import { hasOwner } from "../journal/journal-folder.ts";
import { createPrivateFolder } from "../private-files.ts";
import { syncPath, unpackFolder } from "./archive.ts";
import { DATABASE, JOURNALS, PICTURES, type Installation } from "./backup.ts";
import { addJournals } from "./journals.ts";
import { verifyManifest, type BackupManifest } from "./manifest.ts";
import { requireEmptyPostgres, restorePostgres, verifyDump } from "./postgres-backup.ts";
import { isSqliteInUse, replaceSqlite } from "./sqlite-backup.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Progress } from "../../lib/progress.ts";
import { doSqliteWork } from "./sqlite-work.ts";

interface Restored {
  manifest: BackupManifest;
  /** Path to which the earlier database was moved; null when there was none. */
  replaced: string | null;
  /** Number of pictures that the backup lists and that are not in storage. */
  missingPictures: number;
}

interface RestoreOptions {
  /** True to replace a SQLite database, to add to existing journals, and to restore without the master key. */
  isForced: boolean;
  onProgress: Progress;
}

/**
 * Restores a backup after verifying all of it. Existing journals stay, because they may contain charges that are
 * nowhere else. The journals of the backup are added to the existing journals, and the next start posts charges that
 * the ledger lacks. Throws an `Error` without any change when the installation is in use, when the backup is damaged,
 * newer than this program or of the other kind of database, or when a PostgreSQL database has tables. Unless forced,
 * also throws when a SQLite database or journals exist, or when the master key of the backup is missing here.
 */
export async function restoreBackup(
  installation: Installation,
  path: string,
  options: RestoreOptions,
): Promise<Restored> {
  const { journals } = installation;
  await requireFree(installation, options);
  const folder = join(dirname(journals), "restore.partial");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    options.onProgress(UNPACKING);
    await unpackFolder(path, folder, (done, total) => options.onProgress(UNPACKING, done, total));
    const manifest = await verifyManifest(folder);
    await verify(installation, folder, manifest, options);
    options.onProgress("Putting it in place.");
    createPrivateFolder(journals, { isOwn: true });
    const replaced = await putInPlace(installation, folder);
    const missingPictures = await countMissing(installation, join(folder, PICTURES));
    return { manifest, replaced, missingPictures };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const UNPACKING = "Unpacking and verifying the backup.";

async function requireFree(
  { database, journals }: Installation,
  { isForced }: RestoreOptions,
): Promise<void> {
  const isSqlite = typeof database === "string";
  if (hasOwner(journals) || (isSqlite && isSqliteInUse(database)))
    throw new Error("a gateway or a command works on this data folder: stop it first");
  if (!isSqlite) await requireEmptyPostgres(database.location);
  const existing = [journals, ...(isSqlite ? [database] : [])].filter((each) => existsSync(each));
  if (existing.length > 0 && !isForced)
    throw new Error(
      `${existing.join(" and ")} exist: with --force the database is replaced and kept under another name, and journals stay`,
    );
}

async function verify(
  { database, masterKeys }: Installation,
  folder: string,
  manifest: BackupManifest,
  { isForced, onProgress }: RestoreOptions,
): Promise<void> {
  const { kind, masterKey, migrations, ledgerEntries } = manifest;
  const isSqlite = typeof database === "string";
  if ((kind === "sqlite") !== isSqlite)
    throw new Error(
      `the backup is of ${kind}: ${kind === "sqlite" ? "leave DATABASE_URL out" : "set DATABASE_URL"}`,
    );
  if (migrations > MIGRATIONS.length)
    throw new Error(`the backup is of version ${manifest.program}, newer than this program: update it`);
  if (masterKey !== null && !masterKeys.includes(masterKey)) {
    const problem = `its credentials are sealed with the master key ${masterKey}, which is not the one here: set it as GATEWAY_MASTER_KEY, or put it into master.key of the data folder`;
    if (!isForced) throw new Error(`${problem}; --force restores without it`);
    onProgress(`Warning: ${problem}.`);
  }
  const copy = join(folder, DATABASE[kind]);
  if (!isSqlite) return await verifyDump(copy, database, ledgerEntries);
  const work = { path: copy, other: join(folder, JOURNALS) };
  if (migrations < MIGRATIONS.length) await doSqliteWork({ kind: "migrate", ...work }, onProgress, UNPACKING);
  const facts = await doSqliteWork({ kind: "verify", ...work }, onProgress, UNPACKING);
  const entries = facts?.entries;
  if (entries !== ledgerEntries)
    throw new Error(`the backup has ${entries} entries of ${ledgerEntries} in the ledger`);
}

/**
 * On SQLite the journals are restored first. An interruption may then leave the journals of the backup next to the
 * earlier database, which does no harm.
 */
async function putInPlace({ database, journals }: Installation, folder: string): Promise<string | null> {
  const copied = join(folder, JOURNALS);
  if (typeof database !== "string") {
    await restorePostgres(join(folder, DATABASE.postgres), database);
    addJournals(copied, journals);
    return null;
  }
  addJournals(copied, journals);
  const replaced = replaceSqlite(join(folder, DATABASE.sqlite), database, new Date(systemClock.now()));
  await syncPath(dirname(database));
  return replaced;
}

async function countMissing({ pictures }: Installation, list: string): Promise<number> {
  const missing = new Set<string>();
  for await (const line of createInterface({ input: createReadStream(list), crlfDelay: Infinity }))
    missing.add(JSON.parse(line).name);
  if (missing.size > 0) for await (const { name } of pictures()) missing.delete(name);
  return missing.size;
}
