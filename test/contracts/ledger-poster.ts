import { setImmediate } from "node:timers/promises";
import { openStores } from "../../src/storage/index.ts";
import { anEntry } from "./storage-harness.ts";

/* Posts batches of different sizes in a separate process until it gets input. Some entries have a budget. */
const [location = "", name = ""] = process.argv.slice(2);
const stores = await openStores(location);
const over = new AbortController();
process.stdin.once("data", () => over.abort());
for (let batch = 0; !over.signal.aborted; batch += 1) {
  const entries = Array.from({ length: 1 + (batch % 7) * 9 }, (_, index) =>
    anEntry(`${name}_${batch}_${index}`, 1n, { budgets: index % 2 === 0 ? [] : ["budget"] }),
  );
  // On SQLite, posting may finish within one turn of the event loop. Reading the input needs another turn.
  await setImmediate();
  await stores.ledger.post(name, entries).catch(() => undefined);
}
await stores.database.close();
