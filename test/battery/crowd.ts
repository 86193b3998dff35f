/**
 * Runs fifty honest callers beside one attack at a time: `bun test/battery/crowd.ts [--seconds N] [--only NAME,…]
 * [--list]`. An attack uses keys of a hostile organization for N seconds, by default 20. Exits with 1 when an attack
 * succeeded or harmed callers, with 2 when the attacks could not run. Needs Linux with `unshare`, `ip`, `prlimit` and
 * `openssl`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../support/program-options.ts";
import type { Attack } from "./crowd/attack.ts";
import { ATTACKS } from "./crowd/attacks.ts";
import { namespaceFolder, runInNamespace } from "./crowd/network.ts";
import { CrowdSession, type Row } from "./crowd/session.ts";

export const CROWD_SECONDS = 20;
export const CROWD_EXIT = { unhurt: 0, hurt: 1, failed: 2 } as const;

/** Runs the crowd as a separate program and returns its exit code. */
export async function runCrowd(args: readonly string[], program: string = import.meta.path): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "crowd-"));
  try {
    return await runInNamespace(program, args, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function main(args: string[]): Promise<number> {
  const values = readOptions({
    command: "bun test/battery/crowd.ts",
    does: "Runs fifty honest callers beside one hostile key for each attack.",
    options: {
      seconds: { type: "string", value: "N", help: "of each attack" },
      only: { type: "string", value: "NAME,…", help: "these attacks alone" },
      list: { type: "boolean", help: "print the attacks" },
    },
    args,
  });
  const names = values.only?.split(",") ?? ATTACKS.map(({ name }) => name);
  const attacks = names.map(attackNamed);
  if (values.list) for (const { name, what } of attacks) console.log(`${name.padEnd(20)} ${what}`);
  if (values.list) return 0;
  if (namespaceFolder() === undefined) return await runCrowd(args);
  const rows = await runAttacks(attacks, Number(values.seconds ?? CROWD_SECONDS));
  console.log(`\n${HEADING}\n${rows.map(lineOf).join("\n")}`);
  const hurt = rows.filter(({ violations }) => violations.length > 0);
  console.log(
    hurt.length === 0 ? "nobody was hurt" : `hurt by ${hurt.map(({ attack }) => attack).join(", ")}`,
  );
  return hurt.length === 0 ? CROWD_EXIT.unhurt : CROWD_EXIT.hurt;
}

function attackNamed(wanted: string): Attack {
  const found = ATTACKS.find(({ name }) => name === wanted);
  if (!found)
    throw new Error(`there is no ${wanted}; there are ${ATTACKS.map(({ name }) => name).join(", ")}`);
  return found;
}

/** Runs all attacks. Attacks with equal settings share a gateway until an attack does harm. */
async function runAttacks(attacks: readonly Attack[], seconds: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const needsS3 of [false, true]) {
    const waiting = attacks.filter((attack) => (attack.needsS3 ?? false) === needsS3);
    while (waiting.length > 0) rows.push(...(await runSession(waiting, seconds, needsS3)));
  }
  return rows;
}

/** Runs attacks from the list in turn, until an attack does harm. */
async function runSession(waiting: Attack[], seconds: number, needsS3: boolean): Promise<Row[]> {
  await using session = await CrowdSession.open(seconds, needsS3);
  console.log(`p99 of the quiet run: ${session.quietText}`);
  const rows: Row[] = [];
  for (let attack = waiting.shift(); attack; attack = waiting.shift()) {
    const row = await session.run(attack);
    rows.push(row);
    console.log(lineOf(row));
    for (const violation of row.violations) console.log(`    ${violation}`);
    if (row.violations.length > 0) break;
  }
  return rows;
}

const HEADING = `${"attack".padEnd(18)} ${"honest".padStart(7)} ${"failed".padStart(7)} ${"hostile".padStart(8)} ${"p99".padStart(7)} ${"".padEnd(9)} ${"peak MB".padStart(8)} ${"back in".padStart(8)}  verdict`;

function lineOf(row: Row): string {
  return [
    row.attack.padEnd(18),
    String(row.honest).padStart(7),
    String(row.failed).padStart(7),
    String(row.hostile).padStart(8),
    `× ${row.ratio.toFixed(1)}`.padStart(7),
    row.slowest.padEnd(9),
    String(row.peakMb).padStart(8),
    (row.recoverySeconds === null ? "never" : `${row.recoverySeconds.toFixed(1)} s`).padStart(8),
    ` ${row.violations.length === 0 ? "ok" : "HURT"}`,
  ].join(" ");
}

if (import.meta.main) {
  const code = await main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error);
    return CROWD_EXIT.failed;
  });
  process.exit(code);
}
