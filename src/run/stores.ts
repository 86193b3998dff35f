import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { StoredEntry } from "../admin/configuration/store-port.ts";
import type { AdminStore } from "../admin/admin-store.ts";
import { type LoadedSettings, processEnvironment, type Settings } from "../config/index.ts";
import { readS3Address } from "../lib/s3-address.ts";
import type { Progress } from "../lib/progress.ts";
import type { Installation } from "../storage/backup/index.ts";
import { listBlobs } from "../storage/blobs/index.ts";
import {
  configurationStore,
  isMade,
  migrate,
  openDatabase,
  openStores,
  withReadingThreads,
} from "../storage/index.ts";

/** Opens the store for administration. The caller must close it. With `mustExist`, throws if there is no database. */
export async function openAdminStore(
  settings: Settings,
  { mustExist }: { mustExist: boolean },
): Promise<{ store: AdminStore; close(): Promise<void> }> {
  const { database: location, ...options } = databaseOf(settings);
  if (mustExist) await requireDatabase(settings);
  else await makeDataFolder(settings);
  const { admin, database } = await openStores(location, options);
  const threads = withReadingThreads(admin, { location, journals: options.journals, onProblem: () => {} });
  // Verifications run in a thread, so that a command can be interrupted. Other work starts faster without a thread.
  const { ledger, audit } = threads.admin;
  return {
    store: {
      ...admin,
      ledger: { ...admin.ledger, verify: ledger.verify },
      audit: { ...admin.audit, verify: audit.verify },
    },
    async close() {
      await threads.close();
      await database.close();
    },
  };
}

async function requireDatabase(settings: Settings): Promise<void> {
  const { database: location, ...options } = databaseOf(settings);
  const isFile = settings.databaseUrl === null;
  if (!isFile || existsSync(location)) {
    const database = await openDatabase(location, options);
    try {
      if (await isMade(database)) return;
    } finally {
      await database.close();
    }
  }
  throw new Error(
    isFile
      ? `there is no database ${location}: set GATEWAY_DATA_DIR or DATABASE_URL as the gateway has them, or start it first`
      : "the database that DATABASE_URL names is empty: set it as the gateway has it, or start the gateway first",
  );
}

/**
 * Returns the channels and models that the database declares; none when the SQLite file does not exist yet. Does not
 * create or migrate the database. Rejects when the database cannot be read.
 */
export async function readStoredEntries(settings: Settings): Promise<readonly StoredEntry[]> {
  const { database: location, ...options } = databaseOf(settings);
  if (settings.databaseUrl === null && !existsSync(location)) return [];
  const database = await openDatabase(location, options);
  try {
    return await configurationStore(database).list();
  } finally {
    await database.close();
  }
}

/** Migrates the database to the schema of this version. */
export async function runMigrations(
  settings: Settings,
  onProgress?: Progress,
): Promise<{ applied: string[] }> {
  await makeDataFolder(settings);
  const { database: location, ...options } = databaseOf(settings);
  const database = await openDatabase(location, options);
  try {
    return { applied: await migrate(database, undefined, onProgress) };
  } finally {
    await database.close();
  }
}

/** Creates the data folder. If the folder cannot be created, throws an error that names the setting to change. */
export async function makeDataFolder({ dataDirectory }: Settings): Promise<void> {
  try {
    // With mode 0700, only the user of this process may read charges, keys and pictures.
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the data folder cannot be made (${reason}): set GATEWAY_DATA_DIR to a folder that can be written`,
      { cause: error },
    );
  }
}

/**
 * Returns the database (a PostgreSQL address or the path of a SQLite file), the size of its connection pool, and the
 * folder of all journals.
 */
export function databaseOf({ databaseUrl, dataDirectory, database }: Settings) {
  return {
    database: databaseUrl ?? join(dataDirectory, "gateway.sqlite"),
    poolSize: database.poolSize,
    journals: join(dataDirectory, "journal"),
  };
}

/** Only the commands `backup` and `restore` load `storage/backup`, so that all other commands start faster. */
const backups = () => import("../storage/backup/index.ts");

/** Backs up the database and the files of these settings. */
export async function backUp(loaded: LoadedSettings, path: string, onProgress: Progress) {
  return await (await backups()).makeBackup(installationOf(loaded), path, onProgress);
}

/** Restores a backup to the locations of these settings. */
export async function restore(
  loaded: LoadedSettings,
  path: string,
  options: { isForced: boolean; onProgress: Progress },
) {
  await makeDataFolder(loaded.settings);
  return await (await backups()).restoreBackup(installationOf(loaded), path, options);
}

function installationOf({ settings, masterKeys: { current, previous } }: LoadedSettings): Installation {
  const { database: location, journals } = databaseOf(settings);
  const { databaseUrl, dataDirectory, blobUrl } = settings;
  return {
    database: databaseUrl === null ? location : { location, environment: processEnvironment() },
    journals,
    pictures: () =>
      listBlobs({ directory: dataDirectory, ...(blobUrl !== null && { s3: readS3Address(blobUrl) }) }),
    masterKeys: [current, previous].flatMap((key) => (key ? [key.id] : [])),
  };
}
