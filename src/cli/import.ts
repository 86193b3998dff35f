import type { Command } from "commander";
import { readShippedModels, readYaml, writeYaml } from "../config/index.ts";
import type { CommandContext } from "./context.ts";
import { ImportDraft } from "./imports/draft.ts";
import { importLiteLlm } from "./imports/litellm.ts";
import { importNewApi } from "./imports/new-api.ts";
import { importPortkey } from "./imports/portkey.ts";
import { SourceFiles } from "./imports/source-files.ts";
import { readInputFile } from "./options.ts";
import { entriesOf } from "../lib/json.ts";

type Importer = (draft: ImportDraft, files: SourceFiles, env: NodeJS.Dict<string>) => void;

const SOURCES: Readonly<Record<string, { files: string; read: Importer }>> = {
  litellm: {
    files: "config.yaml, and saved responses of /key/list?return_full_object=true and /team/list",
    read: importLiteLlm,
  },
  "new-api": {
    files: "saved responses of /api/channel/, /api/option/ and /api/token/",
    read: importNewApi,
  },
  portkey: {
    files: "an object of configs by model name, and saved responses of /virtual-keys and /api-keys",
    read: importPortkey,
  },
};

export function addImportCommands(program: Command, cli: CommandContext): void {
  const parent = program
    .command("import")
    .description("make a document for `config import` from the configuration of another gateway");
  for (const [name, { files, read }] of Object.entries(SOURCES))
    parent
      .command(name)
      .description(`print what the database declares, with what these files have: ${files}`)
      .argument("<files...>", "YAML or JSON")
      .action(async (paths: string[]) => {
        const draft = new ImportDraft(await readShippedModels(cli.context.catalogueDirectory));
        const contents = paths.map(async (path) => [path, await readDocument(path)] as const);
        const sources = new SourceFiles(new Map(await Promise.all(contents)));
        read(draft, sources, cli.context.env);
        for (const path of sources.unread()) draft.note(path, `is left out: it is none of ${files}`);
        draft.noteUnpriced();
        const { yaml } = await cli.run("configuration.export", {});
        await cli.write(merge(yaml, draft));
        cli.warn(draft.notes);
      });
}

/** Reads a YAML file. JSON files are accepted too, because JSON is YAML. Throws when the file is not YAML. */
async function readDocument(path: string): Promise<unknown> {
  const { value, problems } = readYaml(await readInputFile(path));
  const [first] = problems;
  if (first) throw new Error(`${path}: line ${first.line} ${first.message}`);
  return value;
}

/**
 * Adds the imported objects to the existing objects. An existing object with the same id stays as it is. The document
 * must contain all of these objects, because `config import` removes every object that is missing from a section of the
 * document.
 */
function merge(yaml: string, draft: ImportDraft): string {
  const present = Object(readYaml(yaml).value) as Record<string, Record<string, unknown> | null>;
  const merged = { ...present };
  for (const [section, items] of entriesOf(draft.sections)) {
    const known = present[section] ?? {};
    for (const id of Object.keys(items))
      if (Object.hasOwn(known, id)) draft.note(`${section}.${id}`, "stays as it is here");
    merged[section] = { ...items, ...known };
  }
  return writeYaml(merged);
}
