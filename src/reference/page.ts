/** A page of the reference: Markdown made from declarations of the code. */
export interface ReferencePage {
  /** Its file below `docs/reference`, without its ending. */
  name: string;
  title: string;
  /** The source of the page, such as `from the commands`. */
  source: string;
  /** The page below its title and its note. */
  body: string;
}

/** Returns the whole text of a page. */
export function renderPage({ title, source, body }: ReferencePage): string {
  const note = `<!-- Made from ${source}: \`npm run reference\` writes it. -->`;
  return `# ${title}\n\n${note}\n\n${body.trim()}\n`;
}

/** Returns a table whose columns are as wide as their longest cell, as the formatter leaves them. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => widthOf(row[column] ?? ""))));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => pad(row[column] ?? "", width)).join(" | ")} |`;
  const [first = [], ...rest] = cells;
  return [line(first), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rest.map(line)].join(
    "\n",
  );
}

/** Returns a list with a bold or code term and its meaning on each line, for texts too long for a table. */
export function list(rows: readonly (readonly [term: string, meaning: string])[]): string {
  return rows.map(([term, meaning]) => `- ${term}: ${meaning}`).join("\n");
}

/** Returns a text in the form of code. */
export function code(text: string): string {
  return `\`${text}\``;
}

/** Returns a text as a sentence: with a capital and a full stop. */
export function sentence(text: string): string {
  const first = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.:!?]$/.test(first) ? first : `${first}.`;
}

function widthOf(text: string): number {
  return Bun.stringWidth(text);
}

function pad(text: string, width: number): string {
  return text + " ".repeat(width - widthOf(text));
}
