import { startLedgerExport } from "../../src/storage/ledger-export/ledger-export.ts";

/* Exports the ledger in a separate process until that process is killed. */
const [location = "", url = "", format = "", processId = ""] = process.argv.slice(2);
startLedgerExport({
  location,
  url,
  format: format === "jsonl" ? "jsonl" : "parquet",
  processId,
  onProblem: (message, cause) => console.error(message, cause),
});
