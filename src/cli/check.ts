import type { Command } from "commander";
import type { Desk } from "./context.ts";

/** `check`: what the gateway would run with, and where each setting came from. Fails with every problem. */
export function addCheckCommand(program: Command, desk: Desk): void {
  program
    .command("check")
    .description("show the effective settings and the origin of each")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const { rows } = await desk.loadSettings();
      const table = rows.map(({ path, value, origin, from }) => ({
        setting: path,
        value,
        origin: from === null ? origin : `${origin} ${from}`,
      }));
      desk.show(json, rows, table);
    });
}
