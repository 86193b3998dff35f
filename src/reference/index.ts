import { join } from "node:path";
import { commandReference } from "../cli/command-reference.ts";
import { PROGRAM_ROOT } from "../lib/program-files.ts";
import { errorsPage } from "./errors.ts";
import { hintsPage, streamEventsPage } from "./protocols.ts";
import { metricsPage } from "./metrics.ts";
import { logFieldsPage, webhookEventsPage } from "./operating.ts";
import { renderPage, type ReferencePage } from "./page.ts";
import { configurationPage, environmentPage } from "./settings.ts";
import { modelsPage, providersPage } from "./vendors.ts";

/** Folder of the generated pages, relative to the folder of the project. */
const REFERENCE_FOLDER = "docs/reference";

/** Returns all generated pages by path, relative to the project's folder. `npm run reference` writes them. */
export async function referenceFiles(): Promise<ReadonlyMap<string, string>> {
  const pages = await Promise.all(PAGES.map((page) => page()));
  return new Map(pages.map((page) => [`${REFERENCE_FOLDER}/${page.name}.md`, renderPage(page)]));
}

const PAGES: readonly (() => ReferencePage | Promise<ReferencePage>)[] = [
  configurationPage,
  environmentPage,
  errorsPage,
  streamEventsPage,
  hintsPage,
  webhookEventsPage,
  providersPage,
  modelsPage,
  metricsPage,
  logFieldsPage,
  () => ({ name: "cli", title: "Commands", source: "the commands", body: commandReference() }),
];

if (import.meta.main)
  for (const [path, text] of await referenceFiles()) await Bun.write(join(PROGRAM_ROOT, path), text);
