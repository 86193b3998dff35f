import type { Command } from "commander";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../domain/usage.ts";
import type { CommandContext, CommandOutput } from "./context.ts";
import { addList, addOperation } from "./operation-command.ts";
import { addCorrectCommand } from "./price-correction.ts";
import { amountFields, withLongAmounts } from "./price-fields.ts";
import { formatTable } from "./table.ts";

export function addPriceCommands(program: Command, cli: CommandContext): void {
  const prices = program.command("prices").description("price rows by model");
  addChangeCommands(prices, cli);
  addList(prices, cli, ["list", "prices.list"], {
    description: "list price rows, those of the configuration included",
    fields: {
      organizationId: "--org <id>  rows of this organization only",
      model: "--model <id>  rows of this model only",
    },
    row: toRow,
  });
  addCorrectCommand(prices, cli);
}

function addChangeCommands(prices: Command, cli: CommandContext): void {
  addOperation(prices, cli, ["set", "prices.create"], {
    description: "add a price row; what it names takes over from earlier rows",
    fields: {
      model: "<model>  model id",
      organizationId: "--org <id>  for this organization only; the default of all when absent",
      ...amountFields({
        image: "price of one image, for example 1K:high=0.04 (repeatable)",
        tokens: "price of a million tokens, for example input=0.10 (repeatable)",
      }),
      effectiveFrom: "--from <time>  ISO date or time from which it holds; now when absent",
      isForced: "--force  even if the model still has no price for an organization that may call it",
    },
    input: withLongAmounts,
    ...changePrinted,
  });
  addOperation(prices, cli, ["remove", "prices.end"], {
    description: "end a price row; its cells fall back to earlier rows, defaults or the configuration",
    fields: {
      id: "<id>  id of the row, as prices list shows it",
      effectiveUntil: "--from <time>  ISO date or time from which it no longer holds; now when absent",
      isForced: "--force  even if a model that can be called loses a price",
    },
    ...changePrinted,
  });
}

type PriceChange = CommandOutput<"prices.create">;
type PriceView = PriceChange["price"];

/** Prints a change: its row, and all prices before and after the change. */
const changePrinted = {
  rows: ({ price }: PriceChange) => [toRow(price)],
  json({ price, cells }: PriceChange) {
    const rates = (when: "before" | "after") =>
      Object.fromEntries(cells.flatMap((each) => (each[when] === null ? [] : [[each.cell, each[when]]])));
    return { ...price, before: rates("before"), after: rates("after") };
  },
  line({ cells }: PriceChange) {
    const rows = cells.map(({ cell, before, after, source }) => ({
      cell,
      before: before ?? "none",
      after: after ?? "none",
      source: source ?? "",
    }));
    return `\n${formatTable(rows).trimEnd()}`;
  },
};

function toRow(price: PriceView) {
  return {
    model: price.model,
    organization: price.organizationId ?? "(all)",
    currency: price.currency,
    price: priceText(price),
    from: price.effectiveFrom ?? "always",
    until: price.effectiveUntil ?? "",
    source: price.id ?? "configuration",
  };
}

/** Returns a price row in one line: `input 0.10, input above 200000 0.20 a million`, `1K:high 0.04 each`. */
function priceText({ unit, perImage = {}, perMillion = {}, longContext, perUse = {} }: PriceView): string {
  if (unit === "image") {
    const cells = Object.entries(perImage).flatMap(([tier, row]) =>
      Object.entries(row).map(([quality, amount]) => `${tier}:${quality} ${amount}`),
    );
    return `${cells.join(", ")} each`;
  }
  const tokens = tokenCells(perMillion, "");
  const long = longContext ? tokenCells(longContext.perMillion, ` above ${longContext.above}`) : [];
  const uses = Object.entries(perUse).map(([feature, amount]) => `${feature} use ${amount}`);
  const million = [...tokens, ...long];
  return [...(million.length > 0 ? [`${million.join(", ")} a million`] : []), ...uses].join(", ");
}

function tokenCells(amounts: Readonly<Record<string, string>>, suffix: string): string[] {
  return TOKEN_CATEGORIES.flatMap((category) => {
    const amount = amounts[category];
    return amount === undefined ? [] : [`${TOKEN_CATEGORY_NAMES[category]}${suffix} ${amount}`];
  });
}
