import { join } from "node:path";
import type { Settings } from "./config/index.ts";

/** Where state is kept: a PostgreSQL address or the path of the SQLite file. */
export function databaseOf({ databaseUrl, dataDirectory }: Settings): string {
  return databaseUrl ?? join(dataDirectory, "gateway.sqlite");
}
