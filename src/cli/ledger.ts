import type { Command } from "commander";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../domain/usage.ts";
import type { CommandContext, Output } from "./context.ts";
import { addUpkeepCommands } from "./ledger-upkeep.ts";
import { readCount, readSequence, readTime, readWord } from "./options.ts";

/** `ledger list|export|show|refund|verify|archive` */
export function addLedgerCommands(program: Command, cli: CommandContext): void {
  const ledger = program.command("ledger").description("what was charged, and corrections of it");
  addFilterOptions(ledger.command("list").description("list entries, newest first"))
    .option("--limit <n>", "most entries", readCount, 50)
    .option("--cursor <id>", "go on below this entry, the last of the page before")
    .option("--json", "print JSON")
    .action(async ({ json, limit, cursor, ...options }: ListOptions) => {
      const page = { ...toFilter(options), limit, cursor };
      const { data, next } = await cli.run("ledger.list", page);
      cli.print(json, data, data.map(toRow));
      if (!json && next !== null) cli.printLine(`More entries follow: repeat with --cursor ${next}`);
    });
  addFilterOptions(ledger.command("export").description("write all entries to standard output, newest first"))
    .option("--after <sequence>", "only what was posted after it, in the order of posting", readSequence)
    .option("--format <csv|jsonl>", "a table, or one JSON object a line", readWord("csv", "jsonl"), "csv")
    .action(async ({ format, after, ...options }: FilterOptions & { format: string; after?: number }) => {
      const filter = {
        ...toFilter(options),
        ...(after !== undefined && { after }),
        format: format === "csv" ? ("csv" as const) : ("json" as const),
      };
      await cli.connect(async (administration) => {
        for await (const piece of await administration.export("ledger", filter)) await cli.write(piece);
      });
    });
  addUpkeepCommands(ledger, cli);
  ledger
    .command("show")
    .description("show a charge with its refunds and adjustments")
    .argument("<id>", "the charge's id, as listed")
    .option("--json", "print JSON")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const view = await cli.run("ledger.get", { id });
      const { charge, corrections, net } = view;
      cli.print(json, { charge, corrections, net }, [charge, ...corrections].map(toRow));
      if (!json) cli.printLine(details(view));
    });
  ledger
    .command("refund")
    .description("refund a charge, or part of it")
    .argument("<id>", "the charge's id, as listed")
    .requiredOption("--reason <text>", "why; kept in the audit")
    .option("--amount <decimal>", "how much, for example 0.04; all that is left when absent")
    .option("--json", "print JSON")
    .action(async (id: string, { json, ...input }: { amount?: string; reason: string; json?: boolean }) => {
      const entry = await cli.run("ledger.refund", { id, ...input });
      cli.print(json, entry, [toRow(entry)]);
    });
}

interface FilterOptions {
  org?: string;
  key?: string;
  model?: string;
  request?: string;
  from?: number;
  to?: number;
}

interface ListOptions extends FilterOptions {
  limit: number;
  cursor?: string;
  json?: boolean;
}

function addFilterOptions(command: Command): Command {
  return command
    .option("--org <id>", "of this organization only")
    .option("--key <id>", "of this key only")
    .option("--model <id>", "of this model only")
    .option("--request <id>", "of the request with this X-Request-Id only")
    .option("--from <time>", "ISO date or time of the first", readTime)
    .option("--to <time>", "ISO date or time before which the last was made", readTime);
}

function toFilter({ org, key, request, model, from, to }: FilterOptions) {
  return { organizationId: org, keyId: key, requestId: request, model, from, to };
}

type EntryView = Output<"ledger.refund">;

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
    channel: channel ?? "",
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

function details({ charge, net }: Output<"ledger.get">): string {
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
