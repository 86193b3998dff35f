import type { Cell } from "./cell.ts";

/** Returns the results as a Markdown table with a row for each program and a column for each scenario. */
export function writeTable(cells: readonly Cell[]): string {
  const scenarios = [...new Set(cells.map(({ scenario }) => scenario.name))];
  const rows = [...Map.groupBy(cells, ({ program }) => program)].map(([program, own]) => [
    program.name,
    versionOf((program.npm ?? program.pip)?.[0] ?? ""),
    ...scenarios.map((name) => writeResults(own.filter(({ scenario }) => scenario.name === name))),
  ]);
  const head = ["Program", "Version", ...scenarios];
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** Returns `1.2` for `name@1.2` of npm and for `name==1.2` of pip. */
function versionOf(name: string): string {
  return name.replace(/^.+(?:@|==)/, "");
}

function writeResults(cells: readonly Cell[]): string {
  const failed = cells.filter(({ result }) => result.outcome === "failed");
  if (failed.length > 0) return `failed (${failed.map(({ vendor }) => vendor).join(", ")})`;
  return [...new Set(cells.map(({ result: { outcome, requests } }) => writeResult(outcome, requests)))].join(
    ", ",
  );
}

function writeResult(outcome: string, requests: number): string {
  return outcome === "done" ? "done" : `message after ${requests}`;
}
