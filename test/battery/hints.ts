import type { TextDialectName } from "../../src/dialects/name.ts";
import { expectHintsToBeNamed, TARGETS } from "../support/hint-laws.ts";
import { HINT_CALLERS } from "../support/hint-requests.table.ts";
import { readOptions } from "../support/program-options.ts";

/* Translates random requests for each kind of target: `bun test/battery/hints.ts --requests 5000 --seed 7`. */
const values = readOptions({
  command: "bun test/battery/hints.ts",
  does: "Translates random requests of each protocol for each kind of target.",
  options: {
    requests: { type: "string", value: "N", help: "of each protocol for each target", default: "5000" },
    seed: { type: "string", value: "N", help: "repeats the run that printed this seed" },
  },
});
const requests = Number(values.requests);
const seed = Number(values.seed ?? Math.trunc(Math.random() * 2 ** 31));
console.log(`--seed ${seed}`);
for (const caller of Object.keys(HINT_CALLERS) as TextDialectName[])
  for (const target of TARGETS) {
    const startedAt = performance.now();
    expectHintsToBeNamed(caller, target, requests, seed);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${caller} to ${target.name}: ${requests} requests, ${seconds} s`);
  }
