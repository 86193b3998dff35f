import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { StoredEntry } from "./admin/configuration-ports.ts";
import type { AdminStore } from "./admin/ports.ts";
import type { Settings } from "./config/index.ts";
import { databaseOf } from "./database.ts";
import { configurationStore, migrate, openDatabase, openStores } from "./storage/index.ts";

/** Opens the store for administration; the caller closes it. */
export async function openAdmin(settings: Settings): Promise<{ store: AdminStore; close(): Promise<void> }> {
  await makeDataFolder(settings);
  const { database: location, ...options } = databaseOf(settings);
  const { admin, database } = await openStores(location, options);
  return { store: admin, close: () => database.close() };
}

/**
 * The channels and models that the database declares; none where there is no database yet. It is neither created nor
 * migrated. Rejects where it cannot be read.
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

/** Brings the database to the form this version needs. */
export async function runMigrations(settings: Settings): Promise<{ applied: string[] }> {
  await makeDataFolder(settings);
  const { database: location, ...options } = databaseOf(settings);
  const database = await openDatabase(location, options);
  try {
    return { applied: await migrate(database) };
  } finally {
    await database.close();
  }
}

/** Throws with what to set where the folder cannot be made. */
export async function makeDataFolder({ dataDirectory }: Settings): Promise<void> {
  try {
    // Charges, keys and pictures are for this user only.
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the data folder cannot be made (${reason}): set GATEWAY_DATA_DIR to a folder that can be written`,
      { cause: error },
    );
  }
}
