import { join } from "node:path";
import type { Settings } from "./config/index.ts";

/** Where state is kept, a PostgreSQL address or the path of the SQLite file, and with how many connections. */
export function databaseOf({ databaseUrl, dataDirectory, database }: Settings) {
  return { database: databaseUrl ?? join(dataDirectory, "gateway.sqlite"), poolSize: database.poolSize };
}
