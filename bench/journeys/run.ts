import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Baselines of the journeys: journeys whose lines are subtracted. An empty name means a start without requests. */
const BASELINES: Readonly<Record<string, string>> = {
  chat: "",
  "chat stream": "",
  "translated stream": "",
  edit: "",
  job: "",
  administration: "sign-in",
};
const AROUND = /^src\/(?:storage|telemetry|run)\//;

/*
 * Prints the number of files and lines that run for a request but not for its baseline. A reader who follows the
 * request must read these lines. `--files` also lists the files.
 */
const ran = new Map<string, ReadonlySet<string>>();
for (const [journey, baseline] of Object.entries(BASELINES)) {
  const own = linesOf(journey).difference(linesOf(baseline));
  const files = Map.groupBy(own, (line) => line.slice(0, line.lastIndexOf(":")));
  const core = [...files.keys()].filter((file) => !AROUND.test(file)).length;
  console.log(
    `${journey.padEnd(18)} ${files.size} files, ${own.size} lines; ${core} files without storage, telemetry and wiring`,
  );
  if (process.argv.includes("--files"))
    for (const file of [...files.keys()].toSorted()) console.log(`  ${file}`);
}

function linesOf(journey: string): ReadonlySet<string> {
  const known = ran.get(journey) ?? runJourney(journey);
  ran.set(journey, known);
  return known;
}

/** Returns the lines of `src` that ran, each as `file:line`. */
function runJourney(journey: string): ReadonlySet<string> {
  const folder = mkdtempSync(join(tmpdir(), "coverage-"));
  const command = [
    "test",
    "--coverage",
    "--coverage-reporter=lcov",
    `--coverage-dir=${folder}`,
    "./bench/journeys/probe.ts",
  ];
  const { success, stderr } = Bun.spawnSync([process.execPath, ...command], {
    env: { ...process.env, JOURNEY: journey },
    stdout: "ignore",
  });
  if (!success) throw new Error(stderr.toString());
  const lines = new Set<string>();
  let file = "";
  for (const record of readFileSync(join(folder, "lcov.info"), "utf8").split("\n")) {
    if (record.startsWith("SF:")) file = record.slice(3);
    const [, line, count] = /^DA:(\d+),(\d+)/.exec(record) ?? [];
    if (file.startsWith("src/") && Number(count) > 0) lines.add(`${file}:${line}`);
  }
  rmSync(folder, { recursive: true });
  return lines;
}
