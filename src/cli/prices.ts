import type { Command } from "commander";
import { priceText } from "./price-text.ts";
import type { CommandContext, Input, Output } from "./context.ts";
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
      "--tokens <category=amount>",
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
        perMillion: options.tokens,
        longContext: longContextOf(options),
        perUse: options.use,
        effectiveFrom: options.from,
        isForced: force,
      };
      printChange(cli, json, await cli.run("prices.create", input));
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
      printChange(cli, json, await cli.run("prices.end", { id, effectiveUntil: from, isForced: force }));
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
      const rows = await cli.list("prices.list", { organizationId: org, model });
      cli.print(json, rows, rows.map(toRow));
    });
}

type PriceInput = Input<"prices.create">;

interface SetOptions extends LongOptions {
  org?: string;
  image?: PriceInput["perImage"];
  tokens?: PriceInput["perMillion"];
  use?: PriceInput["perUse"];
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

type PriceView = Output<"prices.list">["data"][number];

/** The row, and what everything costs without and with the change. */
function printChange(
  cli: CommandContext,
  json: boolean | undefined,
  { price, cells }: Output<"prices.create">,
): void {
  const rates = (when: "before" | "after") =>
    Object.fromEntries(
      cells.flatMap(({ cell, ...each }) => (each[when] === null ? [] : [[cell, each[when]]])),
    );
  cli.print(json, { ...price, before: rates("before"), after: rates("after") }, [toRow(price)]);
  if (json) return;
  cli.printLine("");
  const rows = cells.map(({ cell, before, after, source }) => ({
    cell,
    before: before ?? "none",
    after: after ?? "none",
    source: source ?? "",
  }));
  cli.print(false, null, rows);
}

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
