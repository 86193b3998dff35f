import { resolve } from "node:path";
import type { Command } from "commander";
import type { Progress } from "../lib/progress.ts";
import type { CommandContext } from "./context.ts";
import { runLongWork } from "./long-work.ts";
import { countText } from "../lib/count-text.ts";

export function addBackupCommands(program: Command, cli: CommandContext): void {
  program
    .command("backup")
    .description(
      "write the database and the journals of this machine to one verified file; the gateway may run",
    )
    .argument("<file>", "a tar file that does not exist yet")
    .action(async (file: string) => {
      cli.requireLocal();
      const path = resolve(cli.context.cwd, file);
      const loaded = await cli.loadSettings();
      const made = await runLongWork(cli.context, {
        run: (onProgress) => cli.context.backUp(loaded, path, withLines(cli, onProgress)),
        whenInterrupted: () => `${path} was not written.`,
      });
      const { ledgerEntries, waitingCharges, pictures, masterKey, differences } = made;
      const charges = countText(waitingCharges, "charge");
      cli.printLine(`Wrote ${path}: ${entriesText(ledgerEntries)}, ${charges} in journals.`);
      const size = countText(pictures.bytes, "byte");
      cli.printLine(`Not in it: ${countText(pictures.count, "picture")} (${size}), which it lists.`);
      if (masterKey !== null)
        cli.printLine(`The master key ${masterKey}, which is not in it either, must be kept elsewhere.`);
      if (differences > 0) cli.printLine(differenceText(differences));
    });
  program
    .command("restore")
    .description("put a backup in place, once all of it is verified; the gateway must not run")
    .argument("<file>", "a file that the command backup has written")
    .option("--force", "replace the database that exists, and restore without the master key")
    .action(async (file: string, { force = false }: { force?: boolean }) => {
      cli.requireLocal();
      const path = resolve(cli.context.cwd, file);
      const loaded = await cli.loadSettings();
      const restored = await runLongWork(cli.context, {
        run: (onProgress) =>
          cli.context.restore(loaded, path, { isForced: force, onProgress: withLines(cli, onProgress) }),
        whenInterrupted: () => "The database is as it was before.",
      });
      const { ledgerEntries, waitingCharges, madeAt, differences } = restored.manifest;
      cli.printLine(`Restored ${path} of ${madeAt}: ${entriesText(ledgerEntries)}.`);
      if (waitingCharges > 0)
        cli.printLine(`The next start posts ${countText(waitingCharges, "charge")} of its journals.`);
      if (restored.replaced !== null) cli.printLine(`The earlier database is ${restored.replaced}.`);
      if (restored.missingPictures > 0) cli.printLine(`${missingText(restored.missingPictures)} separately.`);
      if (differences > 0) cli.printLine(differenceText(differences));
    });
}

/**
 * Returns `onProgress`, extended to print each step without figures as a line if the error output is not a terminal.
 */
function withLines(cli: CommandContext, onProgress: Progress): Progress {
  return (step, ...progress) => {
    onProgress(step, ...progress);
    if (progress.length === 0 && !cli.context.stderr.isTTY) cli.printLine(step);
  };
}

const entriesText = (count: number): string => countText(count, "ledger entry", "ledger entries");

function missingText(count: number): string {
  const ofThem = "of its pictures";
  return countText(count, `${ofThem} is missing: copy it`, `${ofThem} are missing: copy them`);
}

function differenceText(count: number): string {
  return `Warning: its ledger has differences (${count}); the command ledger verify shows them.`;
}
