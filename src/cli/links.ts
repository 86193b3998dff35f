import type { Command } from "commander";
import type { CommandContext } from "./context.ts";

/** `links rotate` */
export function addLinkCommands(program: Command, cli: CommandContext): void {
  const links = program.command("links").description("links to results");
  links
    .command("rotate")
    .description("sign links with a new secret; links made before stay valid until they expire")
    .option("--now", "make links made before invalid at once")
    .option("--json", "print JSON")
    .action(async ({ now = false, json }: { now?: boolean; json?: boolean }) => {
      const { kept } = await cli.run("links.rotate", { isImmediate: now });
      if (json) cli.print(true, { rotated: true, older_links_valid: kept > 0 }, []);
      else
        cli.printLine(
          kept > 0
            ? "New links have a new secret. Older links stay valid until they expire."
            : "New links have a new secret. Older links are not valid any more.",
        );
    });
}
