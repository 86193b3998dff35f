import { expect, test } from "bun:test";
import { withOrganization } from "../../test/support/admin-context.ts";
import { anEntry } from "../../test/contracts/storage-harness.ts";
import type { AdminContext, OperationContext } from "./context.ts";
import { csvLine } from "./csv.ts";
import { exportList } from "./exports.ts";

test("an export reads the next page only when the one before it is taken", async () => {
  const context = await withOrganization();
  const { ledger } = context.store;
  for (let index = 0; index < 3500; index += 1)
    ledger.entries.push(anEntry(`entry_${index}`, 1n, { organizationId: "acme", at: index }));
  let reads = 0;
  const { list } = ledger;
  ledger.list = (page) => {
    reads += 1;
    return list(page);
  };
  const pieces = await exportList(context as AdminContext as OperationContext, "ledger", { format: "json" });
  expect(reads).toBe(1);
  const lines: number[] = [];
  for await (const piece of pieces) {
    lines.push(piece.trimEnd().split("\n").length);
    expect(reads).toBe(lines.length);
  }
  expect(lines).toEqual([1000, 1000, 1000, 500]);
});

test.each([
  ["=1+1", "'=1+1"],
  ["+1", "'+1"],
  ["-0.25", "-0.25"],
  ["-1+1", "'-1+1"],
  ["@x", "'@x"],
  ["\t=1", "'\t=1"],
  ["\r=1", `"'\r=1"`],
  ["\n=1", `"'\n=1"`],
  ["＝1", "'＝1"],
  ['say "hi"', '"say ""hi"""'],
  ["a,b", '"a,b"'],
])("the cell %p is written as %p", (cell, written) => {
  expect(csvLine([cell])).toBe(`${written}\n`);
});
