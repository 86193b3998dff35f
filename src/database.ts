import { join } from "node:path";
import type { Settings } from "./config/index.ts";

/** Where state is kept: the database, a PostgreSQL address or a SQLite file, and the folder of all journals. */
export function databaseOf({ databaseUrl, dataDirectory, database }: Settings) {
  return {
    database: databaseUrl ?? join(dataDirectory, "gateway.sqlite"),
    poolSize: database.poolSize,
    journals: join(dataDirectory, "journal"),
  };
}
