import { workerData } from "node:worker_threads";
import { readS3Address, s3Location } from "../../lib/s3-address.ts";
import { withDeadline } from "../../lib/waiting.ts";
import { openDatabase } from "../database/open.ts";
import type { Database } from "../database/sql.ts";
import { doCalls, reportDamageAbove } from "../thread/do-calls.ts";
import { type LedgerExporter, ledgerExporter } from "./exporter.ts";
import type { ExportCall, ExportResult, LedgerExportSetup } from "./ledger-export.ts";
import type { LedgerFile } from "./files.ts";

/* The thread of a `LedgerExport`. It reads and writes on its own database connection. */
const { location, url, format, processId }: LedgerExportSetup = workerData;
const { prefix, ...address } = readS3Address(url);
const client = new Bun.S3Client(address);
let opened: { database: Database; exporter: LedgerExporter } | null = null;

doCalls<ExportCall>({
  async run(call): Promise<ExportResult | null> {
    const { exporter } = (opened ??= await open());
    try {
      if (call === "next") return await exporter.next();
      await exporter.leave();
      return null;
    } catch (error) {
      if (error instanceof UnwrittenError) return { problem: error.message };
      throw error;
    }
  },
  close: async () => await opened?.database.close(),
});

async function open() {
  const options = { poolSize: 1, mustExist: true, onDamage: reportDamageAbove };
  const database = await openDatabase(location, options);
  const destination = s3Location({ prefix, ...address });
  return { database, exporter: ledgerExporter(database, { destination, write, format, processId }) };
}

class UnwrittenError extends Error {}

/** Maximum time of a write. The client has no time limit of its own. */
const MAX_WRITE_MS = 60_000;

async function write({ name, type, bytes }: LedgerFile): Promise<void> {
  try {
    const written = client.write(prefix + name, bytes, { type });
    await withDeadline(MAX_WRITE_MS, written, () => new Error("no response in time"));
  } catch (error) {
    throw new UnwrittenError(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}
