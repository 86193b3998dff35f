import { workerData } from "node:worker_threads";
import { openDatabase } from "../database/open.ts";
import type { Database } from "../database/sql.ts";
import { storesOn } from "../stores/stores.ts";
import { doCalls, reportDamageAbove } from "../thread/do-calls.ts";
import type { Reading } from "./readings.ts";

/** The thread of `withReadingThread`: it reads on a database connection of its own. */
const { location }: { location: string } = workerData;
let database: Database | null = null;

doCalls<Reading>({
  async run({ store, method, args }) {
    database ??= await openDatabase(location, { onDamage: reportDamageAbove });
    const methods = storesOn(database).admin[store] as unknown as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >;
    return await methods[method]?.(...args);
  },
  close: async () => await database?.close(),
});
