import { join } from "node:path";
import { commandReference } from "../cli/command-reference.ts";
import { PROGRAM_ROOT } from "../lib/program-files.ts";
import { renderPage, type ReferencePage } from "./page.ts";

/** Folder of the generated pages, from the folder of the project. */
const REFERENCE_FOLDER = "docs/reference";

/** Returns every generated document by its path from the folder of the project. `npm run reference` writes them. */
export function referenceFiles(): ReadonlyMap<string, string> {
  const pages = PAGES.map((page) => page());
  return new Map(pages.map((page) => [`${REFERENCE_FOLDER}/${page.name}.md`, renderPage(page)]));
}

/** In the order of the navigation. */
const PAGES: readonly (() => ReferencePage)[] = [
  () => ({ name: "cli", title: "Commands", source: "the commands", body: commandReference() }),
];

if (import.meta.main)
  for (const [path, text] of referenceFiles()) await Bun.write(join(PROGRAM_ROOT, path), text);
