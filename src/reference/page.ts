/** A page of the reference: Markdown that is generated from declarations in the code. */
export interface ReferencePage {
  /** Name of the page's file in `docs/reference`, without the extension. */
  name: string;
  title: string;
  /** The origin of the page's content, such as `the commands`. A note at the beginning of the page names the origin. */
  source: string;
  /** The content of the page without its title and its note. */
  body: string;
}

export function renderPage({ title, source, body }: ReferencePage): string {
  const note = `<!-- Made from ${source}: \`npm run reference\` writes it. -->`;
  return `# ${title}\n\n${note}\n\n${body.trim()}\n`;
}

/** Returns a Markdown table. Each column is as wide as its longest cell, as the project's formatter requires. */
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

/** Returns a Markdown list with one term and its meaning per line, for texts that are too long for a table. */
export function list(rows: readonly (readonly [term: string, meaning: string])[]): string {
  return rows.map(([term, meaning]) => `- ${term}: ${meaning}`).join("\n");
}

/** Formats a text as Markdown code. */
export function code(text: string): string {
  return `\`${text}\``;
}

/** Makes a sentence of a text: adds a capital letter, and a full stop if the text does not end with a mark. */
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
