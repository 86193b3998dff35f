/** One line of a table: cells by column heading. */
export type TableRow = Readonly<Record<string, string>>;

/** Rows as aligned columns under their headings, for people. */
export function formatTable(rows: readonly TableRow[]): string {
  const [first] = rows;
  if (!first) return "(none)\n";
  const headings = Object.keys(first);
  const lines = [
    headings.map((heading) => heading.toUpperCase()),
    ...rows.map((row) => headings.map((heading) => printable(row[heading] ?? ""))),
  ];
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((cells) => Bun.stringWidth(cells[column] ?? ""))),
  );
  return lines.map((cells) => `${padCells(cells, widths).trimEnd()}\n`).join("");
}

function padCells(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, column) => {
    const missing = (widths[column] ?? 0) - Bun.stringWidth(cell);
    return cell + " ".repeat(Math.max(0, missing));
  });
  return padded.join("  ");
}

/** A stored name may hold control characters, which would steer the reader's terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, "?");
}
