/**
 * Writes charges and checkpoints to a journal until the process is killed. Arguments: database, journal folder, budget.
 * Prints a line `<type> <id>` after each `append` has returned.
 */
import type { Route } from "../../src/domain/channel.ts";
import type { PriceRow } from "../../src/domain/price.ts";
import type { Model } from "../../src/domain/model.ts";
import { PatternMap } from "../../src/lib/pattern-map.ts";
import { writeSync } from "node:fs";
import { newId } from "../../src/lib/ids.ts";
import { openStorage } from "../../src/storage/index.ts";
import { anEntry } from "./storage-harness.ts";

const [, , database = "", journals = "", budget = ""] = process.argv;
const processId = newId("proc");
const storage = await openStorage({
  database,
  journals,
  processId,
  configured: {
    models: new PatternMap<Model>(),
    channels: new Map(),
    routes: new PatternMap<Route>(),
    prices: new PatternMap<PriceRow>(),
  },
  onProblem: (message, cause) => console.error(message, cause),
});
await storage.leases.take(processId, [{ budget, needed: 1n, wanted: 100_000n }]);
for (;;) {
  for (let index = 0; index < 20; index += 1) {
    const entry = anEntry(newId("entry"), 3n, { budgets: [budget] });
    if (index % 4 === 0) {
      storage.journal.append({ type: "checkpoint", entry: { ...entry, amount: 1n } });
      writeSync(1, `checkpoint ${entry.id}\n`);
    }
    if (index % 8 === 0) await Bun.sleep(1);
    storage.journal.append({ type: "charge", entry });
    writeSync(1, `charge ${entry.id}\n`);
  }
  await Bun.sleep(1);
}
