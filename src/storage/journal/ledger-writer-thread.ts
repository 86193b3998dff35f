import { workerData } from "node:worker_threads";
import { openDatabase } from "../database/open.ts";
import type { Database } from "../database/sql.ts";
import { journalMarks } from "../tables/journal-marks.ts";
import { ledgerStore } from "../tables/ledger.ts";
import { doCalls, reportAbove, reportDamageAbove } from "../thread/do-calls.ts";
import type { WriterCall, WriterSetup } from "./ledger-writer.ts";
import { directWriter } from "./posting.ts";

/* The thread of a `ThreadWriter`. It posts one batch after another, on its own database connection. */
const { location, refusedPath }: WriterSetup = workerData;
let database: Database | null = null;

doCalls<WriterCall>({
  async run({ processId, lines, batch }) {
    database ??= await openDatabase(location, { poolSize: 1, mustExist: true, onDamage: reportDamageAbove });
    const stores = { ledger: ledgerStore(database), marks: journalMarks(database) };
    return await directWriter({ ...stores, refusedPath, onProblem: reportAbove }).post(
      processId,
      lines,
      batch,
    );
  },
  close: async () => await database?.close(),
});
