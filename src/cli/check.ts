import type { Command } from "commander";
import type { CommandContext } from "./context.ts";

/** `check`: the effective settings and where each came from, with warnings. Fails with every problem. */
export function addCheckCommand(program: Command, cli: CommandContext): void {
  program
    .command("check")
    .description("show the effective settings and the origin of each")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      cli.requireLocal();
      const { rows, warnings } = await cli.loadSettings();
      const table = rows.map(({ path, value, origin, from }) => ({
        setting: path,
        value,
        origin: from === null ? origin : `${origin} ${from}`,
      }));
      cli.print(json, rows, table);
      cli.warn(warnings);
    });
}
