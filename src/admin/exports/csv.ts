/** Returns a line of CSV (RFC 4180). It ends with a line feed, as command-line tools expect. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(quote).join(",")}\n`;
}

export type Cell = string | number | boolean | null | undefined;

/**
 * Spreadsheets run a cell as a formula when it begins with one of these characters. Anyone may choose names and request
 * ids, so an apostrophe turns such a cell into text. A negative amount stays a number.
 */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

function quote(cell: Cell): string {
  const text = String(cell ?? "");
  const harmless = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
