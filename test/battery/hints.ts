import { parseArgs } from "node:util";
import type { TextDialectName } from "../../src/dialects/name.ts";
import { expectHintsToBeNamed, TARGETS } from "../support/hint-laws.ts";
import { HINT_CALLERS } from "../support/hint-requests.table.ts";

/* Random requests of each protocol for each kind of target: `bun test/battery/hints.ts --requests 5000 --seed 7`. */
const { values } = parseArgs({
  options: { requests: { type: "string", default: "5000" }, seed: { type: "string" } },
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
