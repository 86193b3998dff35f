import type { Command } from "commander";
import { getCharge, listLedger, refund, type LedgerView } from "../admin/ledger.ts";
import type { LedgerEntry } from "../domain/ledger.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES, type Usage } from "../domain/usage.ts";
import { formatNanos } from "../lib/money.ts";
import type { CommandContext } from "./context.ts";
import { readCount, readTime } from "./options.ts";

/** `ledger list|show|refund` */
export function addLedgerCommands(program: Command, cli: CommandContext): void {
  const ledger = program.command("ledger").description("what was charged, and corrections of it");
  ledger
    .command("list")
    .description("list entries, newest first")
    .option("--org <id>", "of this organization only")
    .option("--from <time>", "ISO date or time of the first", readTime)
    .option("--to <time>", "ISO date or time before which the last was made", readTime)
    .option("--limit <n>", "most entries", readCount, 50)
    .option("--json", "print JSON")
    .action(async ({ org: organizationId, json, ...filter }: ListOptions) => {
      const entries = await cli.administer((admin) => listLedger(admin, { organizationId, ...filter }));
      cli.print(json, entries.map(toView), entries.map(toRow));
    });
  ledger
    .command("show")
    .description("show a charge with its refunds and adjustments")
    .argument("<id>", "the charge's id, as listed")
    .option("--json", "print JSON")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const view = await cli.administer((admin) => getCharge(admin, id));
      cli.print(json, toFullView(view), [view.charge, ...view.corrections].map(toRow));
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

interface ListOptions {
  org?: string;
  from?: number;
  to?: number;
  limit: number;
  json?: boolean;
}

function toView(entry: LedgerEntry): object {
  const { amount, orphanCost, at } = entry;
  return {
    ...entry,
    at: new Date(at).toISOString(),
    amount: formatNanos(amount),
    orphanCost: formatNanos(orphanCost),
  };
}

function toFullView({ charge, corrections, net }: LedgerView): object {
  return { charge: toView(charge), corrections: corrections.map(toView), net: formatNanos(net) };
}

function toRow({ id, kind, organizationId, model, at, usage, amount, currency, channel }: LedgerEntry) {
  return {
    id,
    kind,
    organization: organizationId,
    model,
    at: new Date(at).toISOString(),
    usage: usageText(usage),
    amount: `${formatNanos(amount)} ${currency}`,
    channel: channel ?? "",
  };
}

function usageText(usage: Usage | null): string {
  if (!usage) return "";
  if (usage.unit === "image") return `${usage.count} × ${usage.tier} ${usage.quality}`;
  return TOKEN_CATEGORIES.filter((category) => usage.tokens[category] !== undefined)
    .map((category) => `${TOKEN_CATEGORY_NAMES[category]} ${usage.tokens[category]}`)
    .join(", ");
}

function details({ charge, net }: LedgerView): string {
  const attempts = charge.attempts.map(
    ({ channel, upstreamModel, outcome, durationMs }) =>
      `${channel}/${upstreamModel} ${outcome} in ${durationMs} ms`,
  );
  return [
    `Request ${charge.requestId} by key ${charge.keyId}, at the ${charge.priceSource} price.`,
    ...(charge.flags.length > 0 ? [`Flags: ${charge.flags.join(", ")}.`] : []),
    `Attempts: ${attempts.join("; ") || "none"}.`,
    ...(charge.orphanCost > 0n ? [`Orphan cost ${formatNanos(charge.orphanCost)} ${charge.currency}.`] : []),
    `Net ${formatNanos(net)} ${charge.currency}.`,
  ].join(" ");
}
