import { parentPort, workerData } from "node:worker_threads";
import { DependencyError } from "../../gateway/ports.ts";
import { openDatabase } from "../database/open.ts";
import type { Database } from "../database/sql.ts";
import { ledgerStore } from "../stores/ledger.ts";
import type { Batch, WriterSetup, WriterWord } from "./ledger-writer.ts";
import { directWriter, type LedgerWriter } from "./posting.ts";

/** The thread of a `LedgerWriter`: it posts one batch after the other on a database connection of its own. */
const { location, refusedPath }: WriterSetup = workerData;
let database: Database | null = null;
let last: Promise<void> = Promise.resolve();

parentPort?.on("message", (batch: Batch | null) => {
  last = last.then(() => (batch ? write(batch) : end()));
});

async function write({ number, processId, lines }: Batch): Promise<void> {
  try {
    const writer = await openWriter();
    await writer.post(processId, lines);
    send({ kind: "posted", number });
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    send({ kind: "failed", number, message, isUnavailable: error instanceof DependencyError });
  }
}

async function openWriter(): Promise<LedgerWriter> {
  database ??= await openDatabase(location, { poolSize: 1 });
  const onProblem = (message: string, cause: unknown) =>
    send({ kind: "problem", message, cause: String(cause) });
  return directWriter({ ledger: ledgerStore(database), refusedPath, onProblem });
}

async function end(): Promise<void> {
  await database?.close();
  process.exit(0);
}

function send(word: WriterWord): void {
  parentPort?.postMessage(word);
}
