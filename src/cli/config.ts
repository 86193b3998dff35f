import type { Command } from "commander";
import type { LoadedSettings } from "../config/index.ts";
import type { CommandContext, CommandOutput } from "./context.ts";
import { addOperation } from "./operation-command.ts";
import { readInputFile } from "./options.ts";

export function addConfigCommands(program: Command, cli: CommandContext): void {
  const config = program
    .command("config")
    .description("everything that the database declares, as one document");
  config
    .command("export")
    .description("print it as YAML, without secrets")
    .action(async () => {
      const { yaml } = await cli.existing.run("configuration.export", {});
      await cli.write(yaml);
    });
  addOperation(config, cli, ["import", "configuration.import"], {
    description: "make the database declare what a document says, all of it or nothing",
    fields: {
      yaml: "<file>  the document, - for the standard input",
      isDryRun: "--dry-run  only show what would change; ends with 3 when anything would",
    },
    step: "Reading the document.",
    whenInterrupted: "Nothing was changed.",
    input: async (given) => ({ ...given, yaml: await readInputFile(given.yaml) }),
    rows: ({ changes }) => changes.map(toRow),
    json: (result) => result,
    differs: ({ isApplied, changes }) => !isApplied && changes.length > 0,
    line({ isApplied, secrets }) {
      const lines = secrets.map(
        ({ kind, id, secret }) =>
          `The ${kind === "key" ? "secret of the key" : "password of the member"} ${id}, shown only now: ${secret}`,
      );
      if (!isApplied) lines.push("Nothing was changed.");
      return lines.length === 0 ? null : lines.join("\n");
    },
  });
}

type Change = CommandOutput<"configuration.import">["changes"][number];

function toRow({ kind, id, action, before, after }: Change) {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const changed = [...names].filter((name) => !Bun.deepEquals(before?.[name], after?.[name]));
  return { action, kind, id, fields: action === "update" ? changed.join(", ") : "" };
}

/**
 * Adds the command `check`. It prints the effective settings with the source of each, and warnings. If the
 * configuration is invalid, it fails with a list of all problems.
 */
export function addCheckCommand(program: Command, cli: CommandContext): void {
  program
    .command("check")
    .description("show the effective settings and the origin of each")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      cli.requireLocal();
      const declared = await cli.loadSettings();
      const { rows, warnings } = await withStored(declared, cli);
      const table = rows.map(({ path, value, origin, from }) => ({
        setting: path,
        value,
        origin: from === null ? origin : `${origin} ${from}`,
      }));
      cli.print(json, rows, table);
      cli.warn(warnings);
    });
}

/**
 * Returns the settings together with the entries of the database. If the database cannot be read, returns the settings
 * without the entries, and a warning.
 */
async function withStored(declared: LoadedSettings, cli: CommandContext): Promise<LoadedSettings> {
  const { context, loadSettings } = cli;
  try {
    const stored = await context.readStoredEntries(declared.settings);
    return stored.length === 0 ? declared : await loadSettings(stored);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `cannot be read (${reason}): its channels and models are left out`;
    return { ...declared, warnings: [...declared.warnings, { path: "the database", message }] };
  }
}
