import type { Command } from "commander";
import { removePrice, setPrice, type PriceChange } from "../admin/prices.ts";
import { listPrices, type AnyPriceRow } from "../admin/price-list.ts";
import { priceStart, type Price, type PriceAmounts } from "../domain/price.ts";
import { formatNanos, type Nanos } from "../lib/money.ts";
import type { CommandContext } from "./context.ts";
import { effectiveRates, priceText } from "../admin/price-cells.ts";
import { addCorrectCommand } from "./price-correction.ts";
import {
  LONG_ABOVE_OPTION,
  LONG_OPTION,
  longContextOf,
  readTokenCount,
  type LongOptions,
} from "./long-context.ts";
import { readImagePrice, readTime, readTokenPrice, readUsePrice } from "./options.ts";

/** `prices set|remove|list|correct` */
export function addPriceCommands(program: Command, cli: CommandContext): void {
  const prices = program.command("prices").description("price rows by model");
  addSetCommand(prices, cli);
  addRemoveCommand(prices, cli);
  addListCommand(prices, cli);
  addCorrectCommand(prices, cli);
}

function addSetCommand(prices: Command, cli: CommandContext): void {
  prices
    .command("set")
    .description("add a price row; what it names takes over from earlier rows")
    .argument("<model>", "model id")
    .option("--org <id>", "for this organization only; the default of all when absent")
    .option(
      "--image <tier:quality=amount>",
      "price of one image, for example 1K:high=0.04 (repeatable)",
      readImagePrice,
    )
    .option(
      "--token <category=amount>",
      "price of a million tokens, for example input=0.10 (repeatable)",
      readTokenPrice,
    )
    .option("--use <feature=amount>", "price of one use of a feature (repeatable)", readUsePrice)
    .option("--long <category=amount>", LONG_OPTION, readTokenPrice)
    .option("--long-above <tokens>", LONG_ABOVE_OPTION, readTokenCount)
    .option("--currency <code>", "ISO 4217 code")
    .option("--from <time>", "ISO date or time from which it holds; now when absent", readTime)
    .option("--force", "even if the model still has no price for an organization that may call it")
    .option("--json", "print JSON")
    .action(async (model: string, { json, force, ...options }: SetOptions) => {
      const input = {
        model,
        organizationId: options.org,
        currency: options.currency,
        perImage: options.image,
        perMillion: options.token,
        longContext: longContextOf(options),
        perUse: options.use,
        effectiveFrom: options.from,
      };
      printChange(cli, json, await cli.administer((admin) => setPrice(admin, input, { isForced: force })));
    });
}

function addRemoveCommand(prices: Command, cli: CommandContext): void {
  prices
    .command("remove")
    .description("end a price row; its cells fall back to earlier rows, defaults or the configuration")
    .argument("<id>", "id of the row, as prices list shows it")
    .option("--from <time>", "ISO date or time from which it no longer holds; now when absent", readTime)
    .option("--force", "even if a model that can be called loses a price")
    .option("--json", "print JSON")
    .action(async (id: string, { from, force, json }: RemoveOptions) => {
      const input = { id, effectiveUntil: from };
      printChange(cli, json, await cli.administer((admin) => removePrice(admin, input, { isForced: force })));
    });
}

function addListCommand(prices: Command, cli: CommandContext): void {
  prices
    .command("list")
    .description("list price rows, those of the configuration included")
    .option("--org <id>", "rows of this organization only")
    .option("--model <id>", "rows of this model only")
    .option("--json", "print JSON")
    .action(async ({ org, model, json }: { org?: string; model?: string; json?: boolean }) => {
      const { data: rows } = await cli.administer((admin) =>
        listPrices(admin, { organizationId: org, model, limit: 1000 }),
      );
      cli.print(json, rows.map(toView), rows.map(toRow));
    });
}

interface SetOptions extends LongOptions {
  org?: string;
  image?: object;
  token?: object;
  use?: object;
  currency?: string;
  from?: number;
  force?: boolean;
  json?: boolean;
}

interface RemoveOptions {
  from?: number;
  force?: boolean;
  json?: boolean;
}

/** The row, and what everything costs without and with the change. */
function printChange(cli: CommandContext, json: boolean | undefined, change: PriceChange): void {
  const { row, before, after } = change;
  cli.print(json, { ...toView(row), before: rateView(before), after: rateView(after) }, [toRow(row)]);
  if (json) return;
  cli.printLine("");
  cli.print(false, null, comparison(before, after));
}

function rateView(price: Price | null): Record<string, string> {
  const rates = price ? effectiveRates(price) : [];
  return Object.fromEntries(rates.map(({ name, value }) => [name, formatNanos(value.amount)]));
}

function comparison(before: Price | null, after: Price | null) {
  const [old, changed] = [before, after].map(
    (price) => new Map((price ? effectiveRates(price) : []).map(({ name, value }) => [name, value])),
  );
  return [...new Set([...(old?.keys() ?? []), ...(changed?.keys() ?? [])])].map((cell) => {
    // What a cell without an amount of its own costs.
    const general = cell.replace(/:.*/, ":*").replace(/ above .*/, "");
    const was = old?.get(cell) ?? old?.get(general);
    const is = changed?.get(cell) ?? changed?.get(general);
    return {
      cell,
      before: was ? formatNanos(was.amount) : "none",
      after: is ? formatNanos(is.amount) : "none",
      source: is?.source ?? "",
    };
  });
}

function toView({ id, organizationId, model, currency, price, ...times }: AnyPriceRow): object {
  const amounts =
    price.unit === "token"
      ? { unit: price.unit, ...tokenView(price) }
      : {
          unit: price.unit,
          perImage: Object.fromEntries(
            Object.entries(price.perImage).map(([tier, row]) => [tier, toDecimals(row)]),
          ),
        };
  return {
    id,
    source: id === null ? "configuration" : "stored",
    organizationId,
    model,
    currency,
    ...amounts,
    effectiveFrom: priceStart(times.effectiveFrom),
    effectiveUntil: timeOf(times.effectiveUntil),
  };
}

function tokenView({ perMillion, longContext, perUse }: Extract<PriceAmounts, { unit: "token" }>): object {
  return {
    perMillion: toDecimals(perMillion),
    ...(perUse && { perUse: toDecimals(perUse) }),
    ...(longContext && {
      longContext: { above: longContext.above, perMillion: toDecimals(longContext.perMillion) },
    }),
  };
}

function toRow({ id, organizationId, model, currency, price, ...times }: AnyPriceRow) {
  return {
    model,
    organization: organizationId ?? "(all)",
    currency,
    price: priceText(price),
    from: priceStart(times.effectiveFrom) ?? "always",
    until: timeOf(times.effectiveUntil) ?? "",
    source: id ?? "configuration",
  };
}

function timeOf(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

function toDecimals(amounts: Readonly<Record<string, Nanos>>): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, formatNanos(amount)]));
}
