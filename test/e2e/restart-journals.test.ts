import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { openJournal } from "../../src/storage/journal/journal.ts";
import { until, type TestGateway } from "../support/gateway.ts";
import { openGatewayFixture } from "../support/vendor.ts";
import { anEntry } from "../contracts/storage-harness.ts";

/* The handling of other processes' journals at the start, including damaged and unknown journals. */

test("an unreadable lock delays only its own journal", async () => {
  await using fixture = await openGatewayFixture();
  const { gateway } = fixture;
  await gateway.stop();
  const journals = join(gateway.dataDirectory, "journal");
  for (const name of ["proc_1", "proc_2", "proc_3"]) await leaveJournal(journals, name, [name]);
  writeFileSync(join(journals, "proc_2", "lock"), "no database at all, but long enough ".repeat(100));
  await gateway.restart();
  expect(await idsIn(gateway)).toEqual(["proc_1", "proc_3"]);
  expect(messages(gateway)).toContain("the journal of proc_2 cannot be taken over; its charges wait");
  expect(messages(gateway)).toContain(
    "took over the journal of proc_1: 1 charge, posted unless in the ledger already",
  );
  expect(await metric(gateway, "gateway_recovered_charges_total")).toBe(2);
  await gateway.stop();
  writeFileSync(join(journals, "proc_2", "lock"), "");
  await gateway.restart();
  expect(await idsIn(gateway)).toEqual(["proc_1", "proc_2", "proc_3"]);
  expect(existsSync(join(journals, "proc_2"))).toBe(false);
}, 30_000);

test("damaged segments are quarantined and their readable charges posted", async () => {
  await using fixture = await openGatewayFixture();
  const { gateway } = fixture;
  await gateway.stop();
  const journals = join(gateway.dataDirectory, "journal");
  const path = await leaveJournal(journals, "proc_4", ["first", "second", "last"]);
  const bytes = readFileSync(path);
  // Damages the last line. A damaged line must not count as an incomplete write.
  bytes[bytes.length - 40]! ^= 1;
  writeFileSync(path, bytes);
  mkdirSync(join(journals, "proc_4", "00000002.log"));
  writeFileSync(join(journals, "proc_4", "notes.txt"), "somebody's");
  await gateway.restart();
  expect(await idsIn(gateway)).toEqual(["first", "second"]);
  const quarantine = join(journals, "quarantine", "proc_4");
  expect(readdirSync(quarantine).sort()).toEqual(["00000001.log", "00000002.log", "notes.txt"]);
  expect(readFileSync(join(quarantine, "00000001.log")).equals(bytes)).toBe(true);
  expect(existsSync(join(journals, "proc_4"))).toBe(false);
  expect(messages(gateway).filter((message) => message.includes("is damaged in segment"))).toHaveLength(2);
  expect(await metric(gateway, "gateway_journal_quarantined_files")).toBe(3);
}, 30_000);

test("folders that are no journals are neither posted nor removed", async () => {
  await using fixture = await openGatewayFixture();
  const { gateway } = fixture;
  await gateway.stop();
  const journals = join(gateway.dataDirectory, "journal");
  for (const name of ["backup", "proc_5.bak", "proc_5 copy"]) await leaveJournal(journals, name, [name]);
  mkdirSync(join(journals, "proc_6"));
  writeFileSync(join(journals, "proc_6", "notes.txt"), "somebody's");
  await gateway.restart();
  expect(await idsIn(gateway)).toEqual([]);
  for (const name of ["backup", "proc_5.bak", "proc_5 copy"])
    expect(readdirSync(join(journals, name))).toEqual(["00000001.log"]);
  expect(readdirSync(join(journals, "proc_6"))).toEqual(["notes.txt"]);
}, 30_000);

/** Creates a journal of an ended process with a charge for each id. Returns its segment's path. */
async function leaveJournal(journals: string, name: string, ids: readonly string[]): Promise<string> {
  const folder = join(journals, name);
  mkdirSync(folder, { recursive: true });
  const journal = openJournal({ folder, onAppend() {}, onProblem() {} });
  for (const id of ids) journal.append({ type: "charge", entry: anEntry(id, 1n) });
  await journal.close();
  return join(folder, "00000001.log");
}

async function idsIn(gateway: TestGateway): Promise<string[]> {
  return (await gateway.ledger()).map(({ id }) => id).sort();
}

function messages(gateway: TestGateway): string[] {
  return gateway.logs().map((line) => String(line["message"]));
}

function metric(gateway: TestGateway, name: string): Promise<number> {
  return until(name, async () => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
    return value === undefined ? undefined : Number(value);
  });
}
