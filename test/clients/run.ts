/**
 * Runs third-party programs through the gateway in front of simulated vendors: `npm run clients`. The programs use
 * their default settings and the blocks of docs/connect. Before the runs, the programs are installed into a temporary
 * or a permanent folder. Exits with 1 unless each installed program ended as required.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../support/program-options.ts";
import type { VendorName } from "../support/text-matrix.ts";
import { runCell, type Cell, type CellResult } from "./cell.ts";
import { install, type Installed } from "./install.ts";
import { PROGRAMS, type Program } from "./programs.table.ts";
import { SCENARIOS, type Scenario } from "./scenarios.table.ts";
import { writeTable } from "./write-table.ts";

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
const MAX_CELLS = 2;

const stopping = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stopping.abort());
const root = values.folder ?? (await mkdtemp(join(tmpdir(), "gateway-clients-")));
const cells: Cell[] = [];
const missing: string[] = [];
try {
  const waiting = await plan();
  await Promise.all(Array.from({ length: MAX_CELLS }, () => work(waiting)));
} finally {
  if (!values.folder) await rm(root, { recursive: true, force: true });
}
const failures = cells.filter(({ result }) => result.outcome === "failed").length;
console.log(`\n${writeTable(cells)}\n`);
for (const text of missing) console.log(`NOT INSTALLED ${text}`);
if (stopping.signal.aborted) console.log("STOPPED before all had run");
console.log(`${cells.length} cells, ${failures} failed, ${missing.length} programs could not be installed`);
process.exit(failures > 0 || stopping.signal.aborted ? 1 : 0);

type Waiting = Omit<Cell, "result"> & { installed: Installed };

async function plan(): Promise<Waiting[]> {
  const waiting: Waiting[] = [];
  for (const program of PROGRAMS.filter(({ name }) => name.includes(values.only))) {
    if (stopping.signal.aborted) break;
    const installed = await install(program, root);
    if (typeof installed === "string") missing.push(`${program.name}: ${installed}`);
    else
      for (const scenario of scenariosOf(program))
        waiting.push(...vendorsOf(scenario).map((vendor) => ({ program, scenario, vendor, installed })));
  }
  return waiting;
}

function scenariosOf({ seesPictures, takesOneCall }: Program): Scenario[] {
  const left = new Set([seesPictures ? "" : "picture", takesOneCall ? "parallel" : ""]);
  return SCENARIOS.filter(({ name }) => name.includes(values.scenario) && !left.has(name));
}

/** Returns the vendors of a scenario. For failures one vendor is enough, because translation affects only content. */
function vendorsOf({ isOnce }: Scenario): VendorName[] {
  const wanted = VENDORS.filter((vendor) => vendor.includes(values.vendor));
  return isOnce ? wanted.slice(0, 1) : wanted;
}

async function work(waiting: Waiting[]): Promise<void> {
  for (let next = waiting.shift(); next && !stopping.signal.aborted; next = waiting.shift()) {
    const { program, scenario, vendor, installed } = next;
    const result = await runCell(program, scenario, { vendor, installed, signal: stopping.signal }).catch(
      notRun,
    );
    // An interrupted cell has no result.
    if (!stopping.signal.aborted) report({ program, scenario, vendor, result });
  }
}

/** Returns the result of a cell that cannot run. The other cells still run. */
function notRun(error: unknown): CellResult {
  return { outcome: "failed", reason: "could not be run", requests: 0, log: String(error) };
}

function report(cell: Cell): void {
  cells.push(cell);
  const { program, scenario, vendor, result } = cell;
  const { outcome, reason, requests, log } = result;
  const end = outcome === "failed" ? `FAILED: ${reason}` : outcome;
  console.log(
    `${program.name.padEnd(30)}${vendor.padEnd(16)}${scenario.name.padEnd(14)}${String(requests).padStart(4)}  ${end}`,
  );
  if (values.verbose || outcome === "failed")
    console.log(log.split("\n").slice(-40).join("\n").slice(-4_000));
}
