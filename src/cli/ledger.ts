import type { Command } from "commander";
import { exportLedger, getCharge, listLedger, refund, type LedgerView } from "../admin/ledger.ts";
import type { Attempt, LedgerEntry } from "../domain/ledger.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES, type Usage } from "../domain/usage.ts";
import { formatNanos } from "../lib/money.ts";
import type { CommandContext } from "./context.ts";
import { addUpkeepCommands } from "./ledger-upkeep.ts";
import { CSV_HEADINGS, marginText, toCsvLine } from "./ledger-csv.ts";
import { readCount, readTime, readWord } from "./options.ts";

/** `ledger list|export|show|refund|verify|archive` */
export function addLedgerCommands(program: Command, cli: CommandContext): void {
  const ledger = program.command("ledger").description("what was charged, and corrections of it");
  addFilterOptions(ledger.command("list").description("list entries, newest first"))
    .option("--limit <n>", "most entries", readCount, 50)
    .option("--cursor <id>", "go on below this entry, the last of the page before")
    .option("--json", "print JSON")
    .action(async ({ json, limit, cursor, ...options }: ListOptions) => {
      const page = { ...toFilter(options), limit, cursor };
      const { entries, next } = await cli.administer((admin) => listLedger(admin, page));
      cli.print(json, entries.map(toView), entries.map(toRow));
      if (!json && next !== null) cli.printLine(`More entries follow: repeat with --cursor ${next}`);
    });
  addFilterOptions(ledger.command("export").description("write all entries to standard output, newest first"))
    .option("--format <csv|jsonl>", "a table, or one JSON object a line", readWord("csv", "jsonl"), "csv")
    .action(async ({ format, ...options }: FilterOptions & { format: string }) => {
      await cli.administer(async (admin) => {
        if (format === "csv") await cli.write(CSV_HEADINGS);
        for await (const entries of exportLedger(admin, toFilter(options)))
          await cli.write(entries.map(format === "csv" ? toCsvLine : toJsonLine).join(""));
      });
    });
  addUpkeepCommands(ledger, cli);
  ledger
    .command("show")
    .description("show a charge with its refunds and adjustments")
    .argument("<id>", "the charge's id, as listed")
    .option("--json", "print JSON")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const view = await cli.administer((admin) => getCharge(admin, id));
      cli.print(json, toHistoryView(view), [view.charge, ...view.corrections].map(toRow));
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
      const entry = await cli.administer((admin) => refund(admin, id, input));
      cli.print(json, toView(entry), [toRow(entry)]);
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

function toFilter({ org, key, request, model, from, to }: FilterOptions): object {
  return { organizationId: org, keyId: key, requestId: request, model, from, to };
}

function toJsonLine(entry: LedgerEntry): string {
  return `${JSON.stringify(toView(entry))}\n`;
}

function toView(entry: LedgerEntry): object {
  const { amount, orphanCost, at, admittedAt, vendorCost } = entry;
  return {
    ...entry,
    at: new Date(at).toISOString(),
    ...(admittedAt !== undefined && { admittedAt: new Date(admittedAt).toISOString() }),
    amount: formatNanos(amount),
    orphanCost: formatNanos(orphanCost),
    ...(vendorCost && {
      vendorCost: { ...vendorCost, amount: formatNanos(vendorCost.amount) },
      margin: marginText(entry),
    }),
  };
}

function toHistoryView({ charge, corrections, net }: LedgerView): object {
  return { charge: toView(charge), corrections: corrections.map(toView), net: formatNanos(net) };
}

function toRow(entry: LedgerEntry) {
  const { id, kind, organizationId, model, at, usage, amount, currency, channel, vendorCost } = entry;
  return {
    id,
    kind,
    organization: organizationId,
    model,
    at: new Date(at).toISOString(),
    usage: usageText(usage),
    amount: `${formatNanos(amount)} ${currency}`,
    channel: channel ?? "",
    "vendor cost": vendorCost ? `${formatNanos(vendorCost.amount)} ${vendorCost.currency}` : "",
    margin: marginText(entry) ?? "",
  };
}

function usageText(usage: Usage | null): string {
  if (!usage) return "";
  if (usage.unit === "image") return `${usage.count} × ${usage.tier} ${usage.quality}`;
  const tokens = TOKEN_CATEGORIES.filter((category) => usage.tokens[category] !== undefined).map(
    (category) => `${TOKEN_CATEGORY_NAMES[category]} ${usage.tokens[category]}`,
  );
  const uses = Object.entries(usage.uses ?? {}).map(([feature, count]) => `${count} × ${feature}`);
  return [...tokens, ...uses].join(", ");
}

function details({ charge, net }: LedgerView): string {
  const { requestId, keyId, priceSource, flags, attempts, orphanCost, currency } = charge;
  return [
    `Request ${requestId} by key ${keyId}, at the ${priceSource} price.`,
    ...(flags.length > 0 ? [`Flags: ${flags.join(", ")}.`] : []),
    ...(attempts.length > 0 ? ["Attempts:", ...attempts.map(attemptText)] : ["No attempts."]),
    ...(orphanCost > 0n ? [`Orphan cost ${formatNanos(orphanCost)} ${currency}.`] : []),
    `Net ${formatNanos(net)} ${currency}.`,
  ].join("\n");
}

function attemptText({ channel, upstreamModel, outcome, durationMs, status, isAmbiguous }: Attempt): string {
  const statusPart = status === undefined ? "" : `, status ${status}`;
  const ambiguousPart = isAmbiguous ? ", perhaps carried out" : "";
  return `  ${channel}/${upstreamModel} ${outcome} in ${durationMs} ms${statusPart}${ambiguousPart}`;
}
