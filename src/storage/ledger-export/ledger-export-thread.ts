import { workerData } from "node:worker_threads";
import { readS3Address } from "../../lib/s3-address.ts";
import { withDeadline } from "../../lib/waiting.ts";
import { openDatabase } from "../database/open.ts";
import type { Database } from "../database/sql.ts";
import { doCalls, reportDamageAbove } from "../thread/do-calls.ts";
import { cursorStore } from "./cursor.ts";
import { exportNext } from "./export-next.ts";
import type { ExportCall, ExportResult, LedgerExportSetup } from "./ledger-export.ts";
import type { LedgerFile } from "./files.ts";

/** The thread of a `LedgerExport`: it reads and writes on a database connection of its own. */
const { location, url, format, processId }: LedgerExportSetup = workerData;
const { prefix, ...address } = readS3Address(url);
const client = new Bun.S3Client(address);
let database: Database | null = null;

const destination = `s3://${address.bucket}/${prefix}`;

doCalls<ExportCall>({
  async run(call): Promise<ExportResult | null> {
    database ??= await openDatabase(location, { poolSize: 1, mustExist: true, onDamage: reportDamageAbove });
    if (call === "leave") return await cursorStore(database, destination).leaveTurn(processId);
    try {
      return await exportNext(database, { destination, write, format, processId });
    } catch (error) {
      if (error instanceof UnwrittenError) return { problem: error.message };
      throw error;
    }
  },
  close: async () => await database?.close(),
});

class UnwrittenError extends Error {}

/** The client itself would wait without end. */
const MAX_WRITE_MS = 60_000;

async function write({ name, type, bytes }: LedgerFile): Promise<void> {
  try {
    const written = client.write(prefix + name, bytes, { type });
    await withDeadline(MAX_WRITE_MS, written, () => new Error("no response in time"));
  } catch (error) {
    throw new UnwrittenError(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}
