import { expect, test } from "bun:test";
import { withOrganization } from "../../../test/support/admin-context.ts";
import { anEntry } from "../../../test/contracts/storage-harness.ts";
import type { AdminContext, OperationContext } from "../context.ts";
import { csvLine } from "./csv.ts";
import { exportList } from "./exports.ts";
import type { AuditNote } from "../audit/store-port.ts";

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
  expect(lines).toEqual(Array.from({ length: 14 }, () => 250));
});

test("an export notes what was taken, also where its reader leaves early", async () => {
  const context = await withOrganization();
  const { ledger, audit } = context.store;
  for (let index = 0; index < 600; index += 1)
    ledger.entries.push(anEntry(`entry_${index}`, 1n, { organizationId: "acme", at: index }));
  const notes: AuditNote[] = [];
  audit.note = async (note) => void notes.push(note);
  const start = (filter: object) =>
    exportList(context as AdminContext as OperationContext, "ledger", { format: "csv", ...filter });
  for await (const _ of await start({ organizationId: "acme" }));
  const left = await start({ model: "sandbox-chat" });
  await left.next();
  await left.next();
  await left.return(undefined);
  const taken = {
    by: { actor: "test" },
    kind: "export" as const,
    action: "read" as const,
    subject: "ledger",
  };
  expect(notes).toEqual([
    {
      ...taken,
      organizationId: "acme",
      detail: { format: "csv", filter: { organizationId: "acme" }, rows: 600, isWhole: true },
    },
    {
      ...taken,
      organizationId: null,
      detail: { format: "csv", filter: { model: "sandbox-chat" }, rows: 250, isWhole: false },
    },
  ]);
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
