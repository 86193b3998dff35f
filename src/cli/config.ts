import type { Command } from "commander";
import type { CommandContext, Output } from "./context.ts";
import { readInputFile } from "./options.ts";

/** `config export|import` */
export function addConfigCommands(program: Command, cli: CommandContext): void {
  const config = program
    .command("config")
    .description("everything that the database declares, as one document");
  config
    .command("export")
    .description("print it as YAML, without secrets")
    .action(async () => {
      const { yaml } = await cli.run("configuration.export", {});
      await cli.write(yaml);
    });
  config
    .command("import")
    .description("make the database declare what a document says, all of it or nothing")
    .argument("<file>", "the document, - for the standard input")
    .option("--dry-run", "only show what would change")
    .option("--json", "print JSON")
    .action(async (file: string, { dryRun, json }: { dryRun?: boolean; json?: boolean }) => {
      const yaml = await readInputFile(file);
      const result = await cli.run("configuration.import", { yaml, isDryRun: dryRun });
      if (json) return cli.print(true, result, []);
      cli.print(false, null, result.changes.map(toRow));
      for (const { kind, id, secret } of result.secrets)
        cli.printLine(
          `The ${kind === "key" ? "secret of the key" : "password of the member"} ${id}, shown only now: ${secret}`,
        );
      if (dryRun) cli.printLine("Nothing was changed.");
    });
}

type Change = Output<"configuration.import">["changes"][number];

function toRow({ kind, id, action, before, after }: Change) {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const changed = [...names].filter((name) => !Bun.deepEquals(before?.[name], after?.[name]));
  return { action, kind, id, fields: action === "update" ? changed.join(", ") : "" };
}
