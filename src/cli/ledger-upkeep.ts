import { resolve } from "node:path";
import type { Command } from "commander";
import type { LedgerArchive } from "../admin/ledger/store-port.ts";
import { readInput } from "../admin/input.ts";
import { archiveLedger, archiveSchema } from "../admin/ledger/upkeep.ts";
import { formatNanos, type Nanos } from "../lib/money.ts";
import type { CommandContext, CommandOutput } from "./context.ts";
import { runLongWork } from "./long-work.ts";
import { addOperation } from "./operation-command.ts";
import { countText } from "../lib/count-text.ts";

export function addUpkeepCommands(ledger: Command, cli: CommandContext): void {
  addOperation(ledger, cli, ["verify", "ledger.verify"], {
    description: "compare the ledger with budgets, leases and this machine's journals; fails on a difference",
    step: "Comparing the ledger.",
    rows: ({ differenceCount, differences }) => (differenceCount > 0 ? differences.map(toRow) : null),
    line: summary,
    failure: ({ differenceCount }) =>
      differenceCount > 0 ? `the ledger has ${differenceText(differenceCount)}` : null,
  });
  ledger
    .command("archive")
    .description("move months that are over to files, each verified before anything is removed")
    .requiredOption("--before <month>", "first month that stays, for example 2026-01")
    .requiredOption("--to <folder>", "folder of the files")
    .option("--json", "print JSON")
    .action(async ({ before, to, json }: { before: string; to: string; json?: boolean }) => {
      const folder = resolve(cli.context.cwd, to);
      const input = readInput(archiveSchema, { before, folder });
      const archives: LedgerArchive[] = [];
      await runLongWork(cli.context, {
        run: (onProgress) =>
          cli.existing.administer(async (admin) => {
            for await (const archive of archiveLedger(admin, input, onProgress)) archives.push(archive);
          }),
        whenInterrupted: () =>
          `${countText(archives.length, "month was", "months were")} moved; no entry is lost, and the same command goes on from here.`,
      });
      cli.print(
        json,
        archives.map((archive) => ({ ...archive, sums: mapSums(archive, formatNanos) })),
        archives.map(toArchiveRow),
      );
    });
}

type Verification = CommandOutput<"ledger.verify">;

function toRow({ check, subject, expected, found }: Verification["differences"][number]) {
  return { check, subject, expected: expected ?? "none", found: found ?? "none" };
}

function summary({ entries, budgets, waiting, differenceCount }: Verification): string {
  const charges = countText(waiting, "journaled charge is", "journaled charges are");
  const waitingPart = waiting > 0 ? ` ${charges} not posted yet.` : "";
  const compared = `${countText(entries, "entry", "entries")} and ${countText(budgets, "budget")}`;
  return `Compared ${compared}: ${differenceText(differenceCount)}.${waitingPart}`;
}

function differenceText(count: number): string {
  return count === 0 ? "no difference" : countText(count, "difference");
}

function toArchiveRow(archive: LedgerArchive) {
  const { month, file, entries } = archive;
  const sums = Object.entries(archive.sums).map(([currency, kinds]) => {
    const total = Object.values(kinds).reduce((sum, amount) => sum + amount, 0n);
    return `${formatNanos(total)} ${currency}`;
  });
  return { month, entries: String(entries), sum: sums.join(", "), file };
}

function mapSums({ sums }: LedgerArchive, format: (amount: Nanos) => string): object {
  const currencies = Object.entries(sums).map(([currency, kinds]) => [
    currency,
    Object.fromEntries(Object.entries(kinds).map(([kind, amount]) => [kind, format(amount)])),
  ]);
  return Object.fromEntries(currencies);
}
