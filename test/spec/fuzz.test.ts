import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../support/gateway.ts";
import { openFuzzRig, type FuzzRig } from "../support/fuzz/gateway.ts";

/* A fixed part of the random bodies. The battery sends hundreds of thousands. */
const BODIES = 2_500;
const SEED = 20_261;
const LANES = 8;

let rig: FuzzRig;
beforeAll(async () => {
  rig = await openFuzzRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

test("no body of a grammar of all endpoints gets more than a refusal that says why, or leaves a file", async () => {
  const problems: string[] = [];
  let next = 0;
  const lane = async () => {
    while (next < BODIES) {
      const problem = await rig.send(SEED, next++);
      if (problem !== null) problems.push(problem);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  expect(problems).toEqual([]);
  const files = () => readdirSync(join(rig.gateway.dataDirectory, "spool")).filter(isOfRequest);
  const isOfRequest = (name: string) => name.startsWith("spool-");
  await until("temporary files to be removed", () => (files().length === 0 ? true : undefined));
}, 60_000);
