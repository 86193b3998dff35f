import type { Command } from "commander";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../domain/usage.ts";
import type { CommandContext, CommandOutput } from "./context.ts";
import { runLongWork } from "./long-work.ts";
import { addUpkeepCommands } from "./ledger-upkeep.ts";
import { addFields, addOperation, type FieldOptions } from "./operation-command.ts";
import { readWord } from "./options.ts";

const ID = "<id>  the charge's id, as listed";

export function addLedgerCommands(program: Command, cli: CommandContext): void {
  const ledger = program.command("ledger").description("what was charged, and corrections of it");
  addOperation(ledger, cli, ["list", "ledger.list"], {
    description: "list entries, newest first",
    fields: {
      ...FILTER,
      limit: { usage: "--limit <n>  most entries", default: 50 },
      cursor: "--cursor <id>  go on below this entry, the last of the page before",
    },
    rows: ({ data }) => data.map(toRow),
    json: ({ data }) => data,
    line: ({ next }) => (next === null ? null : `More entries follow: repeat with --cursor ${next}`),
  });
  addExportCommand(ledger, cli);
  addUpkeepCommands(ledger, cli);
  addOperation(ledger, cli, ["show", "ledger.get"], {
    description: "show a charge with its refunds and adjustments",
    fields: { id: ID },
    rows: ({ charge, corrections }) => [charge, ...corrections].map(toRow),
    json: ({ charge, corrections, net }) => ({ charge, corrections, net }),
    line: details,
  });
  addOperation(ledger, cli, ["refund", "ledger.refund"], {
    description: "refund a charge, or part of it",
    fields: {
      id: ID,
      reason: "--reason <text>  why; kept in the audit",
      amount: "--amount <decimal>  how much, for example 0.04; all that is left when absent",
    },
    rows: (entry) => [toRow(entry)],
  });
}

const FILTER: FieldOptions<"ledger.list"> = {
  organizationId: "--org <id>  of this organization only",
  keyId: "--key <id>  of this key only",
  model: "--model <id>  of this model only",
  requestId: "--request <id>  of the request with this X-Request-Id only",
  from: "--from <time>  ISO date or time of the first",
  to: "--to <time>  ISO date or time before which the last was made",
};

function addExportCommand(ledger: Command, cli: CommandContext): void {
  const command = ledger.command("export").description("write all entries to standard output, newest first");
  const read = addFields(command, "ledger.list", {
    ...FILTER,
    after: "--after <sequence>  only what was posted after it, in the order of posting",
  });
  command
    .option("--format <csv|jsonl>", "a table, or one JSON object a line", readWord("csv", "jsonl"), "csv")
    .action(async ({ format }: { format: string }) => {
      const filter = { ...read(), format: format === "csv" ? ("csv" as const) : ("json" as const) };
      // If the output is a terminal, the progress would appear between the rows, so the progress is not shown.
      const { stdout, stderr, env } = cli.context;
      const terminal = stdout.isTTY ? { stderr: { write: stderr.write.bind(stderr) }, env } : cli.context;
      let rows = 0;
      await runLongWork(terminal, {
        run: (onProgress) =>
          cli.existing.connect(async (administration) => {
            for await (const piece of await administration.export("ledger", filter)) {
              rows += piece.split("\n").length - 1;
              onProgress("Writing lines.", rows);
              await cli.write(piece);
            }
          }),
        whenInterrupted: () => "The output is not whole.",
      });
    });
}

type EntryView = CommandOutput<"ledger.refund">;

function toRow(entry: EntryView) {
  const { id, kind, organizationId, model, at, usage, amount, currency, channel, vendorCost } = entry;
  return {
    id,
    kind,
    organization: organizationId,
    model,
    at,
    usage: usageText(usage),
    amount: `${amount} ${currency}`,
    channel,
    "vendor cost": vendorCost ? `${vendorCost.amount} ${vendorCost.currency}` : "",
    margin: entry.margin ?? "",
  };
}

function usageText(usage: EntryView["usage"]): string {
  if (!usage) return "";
  if (usage.unit === "image") return `${usage.count} × ${usage.tier} ${usage.quality}`;
  const tokens = TOKEN_CATEGORIES.filter((category) => usage.tokens[category] !== undefined).map(
    (category) => `${TOKEN_CATEGORY_NAMES[category]} ${usage.tokens[category]}`,
  );
  const uses = Object.entries(usage.uses ?? {}).map(([feature, count]) => `${count} × ${feature}`);
  return [...tokens, ...uses].join(", ");
}

function details({ charge, net }: CommandOutput<"ledger.get">): string {
  const { requestId, keyId, priceSource, flags, attempts, orphanCost, currency } = charge;
  return [
    `Request ${requestId} by key ${keyId}, at the ${priceSource} price.`,
    ...(flags.length > 0 ? [`Flags: ${flags.join(", ")}.`] : []),
    ...(attempts.length > 0 ? ["Attempts:", ...attempts.map(attemptText)] : ["No attempts."]),
    ...(orphanCost === "0.00" ? [] : [`Orphan cost ${orphanCost} ${currency}.`]),
    `Net ${net} ${currency}.`,
  ].join("\n");
}

function attemptText({
  channel,
  upstreamModel,
  outcome,
  durationMs,
  status,
  isAmbiguous,
}: EntryView["attempts"][number]): string {
  const statusPart = status === undefined ? "" : `, status ${status}`;
  const ambiguousPart = isAmbiguous ? ", perhaps carried out" : "";
  return `  ${channel}/${upstreamModel} ${outcome} in ${durationMs} ms${statusPart}${ambiguousPart}`;
}
