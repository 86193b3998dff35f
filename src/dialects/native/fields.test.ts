import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { readFeatures, unknownNames } from "./fields.ts";
import { readSchema } from "./text/tools.ts";

const MIB = 1024 * 1024;

test("names that callers choose are not kept", () => {
  const heap = (): number => {
    Bun.gc(true);
    return heapStats().heapSize + heapStats().extraMemorySize;
  };
  const before = heap();
  for (let request = 0; request < 40; request += 1) {
    const names = Array.from({ length: 200 }, (_, index) => `${request}-${index}-${"Aa".repeat(2_000)}`);
    const body = JSON.parse(`{${names.map((name) => `"${name}":1`).join()}}`);
    expect(unknownNames(body, new Set())).toHaveLength(200);
  }
  expect((heap() - before) / MIB).toBeLessThan(16);
});

test("a name of megabytes costs no more than a look at its length", () => {
  const startedAt = performance.now();
  expect(readFeatures({ tools: [{ ["Aa".repeat(10_000_000)]: 1 }] }, {})).toMatchObject([{ feature: null }]);
  readSchema({ ["_a".repeat(10_000_000)]: 1 });
  expect(performance.now() - startedAt).toBeLessThan(500);
});
