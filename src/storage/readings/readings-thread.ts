import { workerData } from "node:worker_threads";
import { openDatabase } from "../database/open.ts";
import type { Database } from "../database/sql.ts";
import { storesOn } from "../tables/stores.ts";
import { doCalls, reportDamageAbove } from "../thread/do-calls.ts";
import type { Reading, ReadingSetup } from "./readings.ts";

/* A thread of `withReadingThreads`. It reads on its own database connections. */
const { location, journals, connections }: ReadingSetup = workerData;
let opened: Promise<Database> | null = null;

doCalls<Reading>({
  async run({ store, method, args }) {
    opened ??= openDatabase(location, {
      poolSize: connections,
      mustExist: true,
      onDamage: reportDamageAbove,
    });
    const database = await opened.catch((error: unknown) => {
      opened = null;
      throw error;
    });
    const methods = storesOn(database, journals).admin[store] as unknown as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >;
    return await methods[method]?.(...args);
  },
  close: async () => (await opened)?.close(),
  areTogether: connections > 1,
});
