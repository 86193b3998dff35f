import manifest from "../package.json";
import type { Stage } from "./stage.ts";
import type { Spread } from "./statistics.ts";

export interface Row {
  workload: string;
  figure: string;
  floor: string;
  gateway: string;
  /**
   * Usually the gateway's figure divided by that of the baseline server (floor), or an added time, as median (minimum
   * to maximum) of the rounds.
   */
  comparison: string;
  /** Limit for the figure. Absent when the figure is only reported. */
  bar?: string;
  passed?: boolean;
}

/** Returns a row whose bar is a maximum for the median of the ratios. */
export function ratioRow(
  names: Pick<Row, "workload" | "figure">,
  figures: { floor: Spread; gateway: Spread; ratio: Spread; unit: string; bar?: number },
): Row {
  const { floor, gateway, ratio, unit, bar } = figures;
  return {
    ...names,
    floor: `${short(floor.median)} ${unit}`,
    gateway: `${short(gateway.median)} ${unit}`,
    comparison: `${ratio.median.toFixed(2)}x (${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)})`,
    ...(bar !== undefined && { bar: `<= ${bar}x`, passed: ratio.median <= bar }),
  };
}

/** Returns a row for the growth of a figure between two states of a server. The bar is a minimum. */
export function growthRow(
  names: Pick<Row, "workload" | "figure">,
  figures: Record<"floor" | "gateway", { floor: Spread; gateway: Spread; ratio: Spread }> & {
    unit: string;
    bar?: number;
  },
): Row {
  const { floor, gateway, unit, bar } = figures;
  const { median, min, max } = gateway.ratio;
  return {
    ...names,
    floor: `${floor.ratio.median.toFixed(2)}x`,
    gateway: `${short(gateway.floor.median)} to ${short(gateway.gateway.median)} ${unit}`,
    comparison: `${median.toFixed(2)}x (${min.toFixed(2)} to ${max.toFixed(2)})`,
    ...(bar !== undefined && { bar: `>= ${bar}x`, passed: median >= bar }),
  };
}

/** Returns a row with the milliseconds that the baseline server (floor) and the gateway add to a direct call. */
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

/** Returns a row whose bar is a maximum for the gateway's figure. */
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

/** Returns the report as a Markdown table for a document. */
export function renderRows(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.workload,
    row.figure,
    row.floor,
    row.gateway,
    row.comparison,
    row.bar ?? "",
    row.passed === undefined ? "" : row.passed ? "pass" : "MISSED",
  ]);
  return renderTable([
    ["Workload", "Figure", "Floor", "Gateway", "Median (min to max)", "Bar", "Result"],
    ...cells,
  ]);
}

/** Returns a Markdown table. The first line is its heading. */
export function renderTable(lines: readonly string[][]): string {
  const widths = lines[0]!.map((_, column) => Math.max(3, ...lines.map((line) => line[column]!.length)));
  const [heading = "", ...rest] = lines.map((line) => tableLine(line, widths, " "));
  return [heading, tableLine([], widths, "-"), ...rest].join("\n");
}

function tableLine(cells: readonly string[], widths: readonly number[], filling: string): string {
  return `| ${widths.map((width, column) => (cells[column] ?? "").padEnd(width, filling)).join(" | ")} |`;
}

/** Returns the conditions under which figures were measured: date, versions, machine and length of the run. */
export function describeRun({ machine, options }: Pick<Stage, "machine" | "options">): string {
  const date = new Date().toISOString().slice(0, 10);
  return [
    `${date}, version ${manifest.version}, Bun ${Bun.version}; ${machine.cores} cores, ${machine.cpuModel}`,
    `${options.rounds} interleaved rounds of ${options.seconds} s each`,
    ...(machine.canPin ? [] : ["NOT PINNED: this needs two cores and taskset; server and load share cores"]),
  ].join("\n");
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
