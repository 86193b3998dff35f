import type { Command } from "commander";
import type { LoadedSettings } from "../config/index.ts";
import type { CommandContext } from "./context.ts";

/** `check`: the effective settings and where each came from, with warnings. Fails with every problem. */
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

/** The settings with what the database declares; without it and with a warning where the database cannot be read. */
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
