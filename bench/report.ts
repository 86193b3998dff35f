import type { Spread } from "./statistics.ts";

/** One line of the report. */
export interface Row {
  workload: string;
  figure: string;
  floor: string;
  gateway: string;
  /** Gateway over floor, or what the gateway adds: median (min to max) of the rounds. */
  comparison: string;
  /** The bar; absent on a figure that is only reported. */
  bar?: string;
  passed?: boolean;
}

/** A row that compares ratios within rounds with a bar: the most they may be, or the least. */
export function ratioRow(
  names: Pick<Row, "workload" | "figure">,
  figures: { floor: Spread; gateway: Spread; ratio: Spread; unit: string; bar?: number; isAtLeast?: boolean },
): Row {
  const { floor, gateway, ratio, unit, bar, isAtLeast = false } = figures;
  return {
    ...names,
    floor: `${short(floor.median)} ${unit}`,
    gateway: `${short(gateway.median)} ${unit}`,
    comparison: `${ratio.median.toFixed(2)}x (${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)})`,
    ...(bar !== undefined && {
      bar: `${isAtLeast ? ">=" : "<="} ${bar}x`,
      passed: isAtLeast ? ratio.median >= bar : ratio.median <= bar,
    }),
  };
}

/** A row with what floor and gateway add to a direct call, in milliseconds. */
export function addedRow(
  names: Pick<Row, "workload" | "figure">,
  figures: { floor: Spread; gateway: Spread; barMs?: number },
): Row {
  const { floor, gateway, barMs } = figures;
  return {
    ...names,
    floor: `+${floor.median.toFixed(3)} ms`,
    gateway: `+${gateway.median.toFixed(3)} ms`,
    comparison: `+${gateway.median.toFixed(3)} (${gateway.min.toFixed(3)} to ${gateway.max.toFixed(3)})`,
    ...(barMs !== undefined && { bar: `<= ${barMs} ms`, passed: gateway.median <= barMs }),
  };
}

/** A row whose bar is on the gateway's own figure. */
export function atMostRow(
  names: Pick<Row, "workload" | "figure">,
  figures: { floor: Spread; gateway: Spread; unit: string; bar: number },
): Row {
  const { floor, gateway, unit, bar } = figures;
  return {
    ...names,
    floor: `${short(floor.median)} ${unit}`,
    gateway: `${short(gateway.median)} ${unit}`,
    comparison: `${short(gateway.median)} ${unit}`,
    bar: `<= ${bar} ${unit}`,
    passed: gateway.median <= bar,
  };
}

export function renderTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.workload,
    row.figure,
    row.floor,
    row.gateway,
    row.comparison,
    row.bar ?? "",
    row.passed === undefined ? "" : row.passed ? "pass" : "MISSED",
  ]);
  const table = [["workload", "figure", "floor", "gateway", "median (min to max)", "bar", ""], ...cells];
  return padded(table)
    .map((line) => line.join("  ").trimEnd())
    .join("\n");
}

/** A table for a document; the first line is its heading. */
export function renderMarkdown(lines: readonly string[][]): string {
  const [heading = [], ...rest] = padded(lines);
  const rule = heading.map((cell) => "-".repeat(cell.length));
  return [heading, rule, ...rest].map((line) => `| ${line.join(" | ")} |`).join("\n");
}

function padded(table: readonly string[][]): string[][] {
  const widths = table[0]!.map((_, column) => Math.max(...table.map((line) => line[column]!.length)));
  return table.map((line) => line.map((cell, column) => cell.padEnd(widths[column]!)));
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
