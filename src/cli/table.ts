/** One row of a table: its cells by column heading. */
export type TableRow = Readonly<Record<string, string>>;

/**
 * Returns rows as aligned columns below their headings. Numbers and amounts are aligned to the right. With `isColored`,
 * which is only for terminals, each state has a color by its meaning.
 */
export function formatTable(rows: readonly TableRow[], { isColored = false } = {}): string {
  const [first] = rows;
  if (!first) return "(none)\n";
  const headings = Object.keys(first);
  const lines = rows.map((row) => headings.map((heading) => printable(row[heading] ?? "")));
  const columns = headings.map((heading, index): Column => {
    const cells = lines.map((line) => line[index] ?? "");
    const width = Math.max(...[heading, ...cells].map((cell) => Bun.stringWidth(cell)));
    return { width, isNumeric: areNumbers(cells), hasStates: isColored && STATE_HEADINGS.has(heading) };
  });
  return [headings.map((heading) => heading.toUpperCase()), ...lines]
    .map((cells) => `${formatLine(cells, columns)}\n`)
    .join("");
}

interface Column {
  width: number;
  isNumeric: boolean;
  hasStates: boolean;
}

function formatLine(cells: readonly string[], columns: readonly Column[]): string {
  const last = cells.findLastIndex((cell) => cell !== "");
  const shown = cells.slice(0, last + 1).map((cell, index) => {
    const { width = 0, isNumeric = false, hasStates = false } = columns[index] ?? {};
    const space = " ".repeat(Math.max(0, width - Bun.stringWidth(cell)));
    const text = hasStates ? colored(cell) : cell;
    if (isNumeric) return space + text;
    return index === last ? text : text + space;
  });
  return shown.join("  ");
}

/**
 * Matches `12`, `-0.04`, `3 %`, `0.000236 USD`. A column of numbers may also have empty cells and the words in `GAPS`.
 */
const NUMBER = /^-?\d+(\.\d+)?( %| [A-Z]{3})?$/;
const GAPS: ReadonlySet<string> = new Set(["", "none", "unknown", "default"]);

function areNumbers(cells: readonly string[]): boolean {
  return (
    cells.some((cell) => NUMBER.test(cell)) && cells.every((cell) => NUMBER.test(cell) || GAPS.has(cell))
  );
}

const STATE_HEADINGS: ReadonlySet<string> = new Set(["state", "status"]);

/** ANSI colors. `STATE_COLORS` has the color of each state, without the part of the state in parentheses. */
const [RED, GREEN, YELLOW] = [31, 32, 33];
const STATE_COLORS: Readonly<Record<string, number>> = {
  active: GREEN,
  enabled: GREEN,
  "in service": GREEN,
  completed: GREEN,
  delivered: GREEN,
  waiting: YELLOW,
  pending: YELLOW,
  in_progress: YELLOW,
  cancelled: YELLOW,
  disabled: YELLOW,
  expired: RED,
  ejected: RED,
  failed: RED,
};

function colored(state: string): string {
  const color = STATE_COLORS[state.replace(/ \(.*/, "")];
  return color === undefined ? state : `\u001B[${color}m${state}\u001B[0m`;
}

/** Returns a text without control characters: a terminal would obey control characters in a stored name. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, "?");
}
