import type { LoadedSettings } from "./config/index.ts";
import { processEnvironment } from "./config/index.ts";
import { databaseOf } from "./database.ts";
import { readS3Address } from "./lib/s3-address.ts";
import { makeDataFolder } from "./open-admin.ts";
import { makeBackup, restoreBackup, type Installation, type Progress } from "./storage/backup/index.ts";
import { listBlobs } from "./storage/blobs/index.ts";

/** Backs up what these settings name. */
export function backUp(loaded: LoadedSettings, path: string, onProgress: Progress) {
  return makeBackup(installationOf(loaded), path, onProgress);
}

/** Restores to where these settings lead. */
export async function restore(
  loaded: LoadedSettings,
  path: string,
  options: { isForced: boolean; onProgress: Progress },
) {
  await makeDataFolder(loaded.settings);
  return await restoreBackup(installationOf(loaded), path, options);
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
