import type { Command } from "commander";
import type { CommandContext } from "./context.ts";

/** `check`: what the gateway would run with, and where each setting came from. Fails with every problem. */
export function addCheckCommand(program: Command, cli: CommandContext): void {
  program
    .command("check")
    .description("show the effective settings and the origin of each")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const { rows } = await cli.loadSettings();
      const table = rows.map(({ path, value, origin, from }) => ({
        setting: path,
        value,
        origin: from === null ? origin : `${origin} ${from}`,
      }));
      cli.print(json, rows, table);
    });
}
