/**
 * Runs programs that others wrote through the gateway, on their defaults and the blocks of docs/connect, in front of
 * simulated vendors: `npm run clients`.
 * Installs them first, into a temporary folder or into one that stays. Ends with 1 unless each did what it should.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../support/program-options.ts";
import type { VendorName } from "../support/text-matrix.ts";
import { runCell, type CellResult } from "./cell.ts";
import { install } from "./install.ts";
import { PROGRAMS, type Program } from "./programs.table.ts";
import { SCENARIOS, type Scenario } from "./scenarios.table.ts";

const text = { type: "string", value: "TEXT", default: "" } as const;
const values = readOptions({
  command: "npm run clients --",
  does: "Installs programs that others wrote and runs them through the gateway in front of simulated vendors.",
  options: {
    only: { ...text, help: "programs whose names contain this" },
    scenario: { ...text, help: "scenarios whose names contain this" },
    vendor: { ...text, help: "vendors whose names contain this" },
    folder: { type: "string", value: "PATH", help: "where they are installed, and stay" },
    verbose: { type: "boolean", help: "print what each program prints", default: false },
  },
});
const VENDORS = ["over-chat", "over-messages", "over-responses", "over-native"] as const;

const root = values.folder ?? (await mkdtemp(join(tmpdir(), "gateway-clients-")));
const rows: string[] = [];
const missing: string[] = [];
let failures = 0;
try {
  for (const program of PROGRAMS.filter(({ name }) => name.includes(values.only))) await runProgram(program);
} finally {
  if (!values.folder) await rm(root, { recursive: true, force: true });
}
console.log(`\n${line("program", "vendor", "scenario", "requests", "result")}`);
for (const row of rows) console.log(row);
for (const text of missing) console.log(`NOT INSTALLED ${text}`);
console.log(`${rows.length} cells, ${failures} failed, ${missing.length} programs could not be installed`);
process.exit(failures === 0 ? 0 : 1);

async function runProgram(program: Program): Promise<void> {
  const installed = await install(program, root);
  if (typeof installed === "string") {
    missing.push(`${program.name}: ${installed}`);
    return;
  }
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(values.scenario))) {
    if (scenario.name === "picture" && !program.seesPictures) continue;
    for (const vendor of vendorsOf(scenario)) {
      const result = await runCell(program, scenario, { vendor, installed }).catch(notRun);
      report(program, scenario, vendor, result);
    }
  }
}

/** A cell that did not come about must not end the others. */
function notRun(error: unknown): CellResult {
  return { isGood: false, text: "could not be run", requests: 0, output: String(error) };
}

/** Translations matter to content; what fails, fails alike for each of them. */
function vendorsOf({ isOnce }: Scenario): VendorName[] {
  const wanted = VENDORS.filter((vendor) => vendor.includes(values.vendor));
  return isOnce ? wanted.slice(0, 1) : wanted;
}

function report(program: Program, scenario: Scenario, vendor: VendorName, result: CellResult): void {
  const { isGood, text, requests, output } = result;
  if (!isGood) failures += 1;
  const row = line(program.name, vendor, scenario.name, String(requests), isGood ? text : `FAILED: ${text}`);
  rows.push(row);
  console.log(row);
  if (values.verbose || !isGood) console.log(output.trim().split("\n").slice(-8).join("\n").slice(-1_500));
}

function line(program: string, vendor: string, scenario: string, requests: string, result: string): string {
  return `${program.padEnd(30)}${vendor.padEnd(16)}${scenario.padEnd(14)}${requests.padStart(8)}  ${result}`;
}
