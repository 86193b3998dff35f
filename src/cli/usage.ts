import type { Command } from "commander";
import type { CommandContext, CommandOutput } from "./context.ts";
import { addOperation } from "./operation-command.ts";
import type { TableRow } from "./table.ts";
import { countText } from "../lib/count-text.ts";

export function addUsageCommand(program: Command, cli: CommandContext): void {
  addOperation(program, cli, ["usage", "usage.list"], {
    description: "who spent what in a range, beside the range of the same length before",
    fields: {
      groupBy: "--by <what>  what each line is of",
      from: "--from <time>  ISO date or time of the first; 30 days before --to by default",
      to: "--to <time>  ISO date or time before which the last was made; now by default",
      organizationId: "--org <id>  of this organization only",
      keyId: "--key <id>  of this key only",
      model: "--model <id>  of this model only",
      channel: "--channel <id>  of this channel only",
      currency: "--currency <code>  of the amounts; that of most requests by default",
      limit: "--limit <n>  most lines, the highest amounts first",
    },
    rows: ({ groups, currency }) => groups.map((group) => toRow(group, currency)),
    json: (usage) => usage,
    line: totalText,
  });
}

type Usage = CommandOutput<"usage.list">;

function toRow(group: Usage["groups"][number], currency: string): TableRow {
  const { id, name, amount, share, previousAmount, requests, errors, tokens, images } = group;
  return {
    name: name === "" ? "(none)" : name,
    id,
    amount: `${amount} ${currency}`,
    share: `${(share * 100).toFixed(1)} %`,
    before: previousAmount,
    requests: String(requests),
    errors: errors === null ? "" : String(errors),
    tokens: String(tokens),
    images: String(images),
  };
}

function totalText({ from, to, totals, previous, currency, currencies, groups, groupCount }: Usage): string {
  const others = currencies.filter((each) => each !== currency);
  return [
    `${from} to ${to}: ${totals.amount} ${currency}, before that ${previous.amount} ${currency}.`,
    ...(groupCount > groups.length
      ? [`${groups.length} of ${countText(groupCount, "line")}; more with --limit.`]
      : []),
    ...(others.length > 0 ? [`Also spent in ${others.join(", ")}: choose with --currency.`] : []),
  ].join("\n");
}
