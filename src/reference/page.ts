/** A page of the reference: Markdown that is generated from declarations in the code. */
export interface ReferencePage {
  /** Name of the page's file in `docs/reference`, without the extension. */
  name: string;
  title: string;
  /** The origin of the page's content, such as `the commands`, for a note at its beginning. */
  source: string;
  /** The content of the page after its title and note. */
  body: string;
}

/** Returns the whole text of a page. */
export function renderPage({ title, source, body }: ReferencePage): string {
  const note = `<!-- Made from ${source}: \`npm run reference\` writes it. -->`;
  return `# ${title}\n\n${note}\n\n${body.trim()}\n`;
}

/**
 * Returns a Markdown table whose columns are as wide as their longest cell, so that the formatter does not change it.
 */
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

/** Returns a Markdown list of terms with their meanings, one a line, for texts that are too long for a table. */
export function list(rows: readonly (readonly [term: string, meaning: string])[]): string {
  return rows.map(([term, meaning]) => `- ${term}: ${meaning}`).join("\n");
}

/** Returns a text as Markdown code. */
export function code(text: string): string {
  return `\`${text}\``;
}

/** Returns a text as a sentence, with a capital letter and a full stop. */
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
