import type { Command } from "commander";
import { listPrices, setPrice } from "../admin/prices.ts";
import type { PriceRecord } from "../admin/ports.ts";
import type { Settings } from "../config/index.ts";
import { priceStart } from "../domain/price.ts";
import { formatNanos, type Nanos } from "../lib/money.ts";
import type { CommandContext } from "./context.ts";
import { priceAmounts } from "./price-amounts.ts";
import { addCorrectCommand } from "./price-correction.ts";
import { readImagePrice, readTime, readTokenPrice } from "./options.ts";

/** `prices set|list|correct` */
export function addPriceCommands(program: Command, cli: CommandContext): void {
  const prices = program.command("prices").description("price rows by model");
  prices
    .command("set")
    .description("add a price row that takes over from the one before")
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
    .option("--currency <code>", "ISO 4217 code")
    .option("--from <time>", "ISO date or time from which it holds; now when absent", readTime)
    .option("--json", "print JSON")
    .action(async (model: string, options: SetOptions) => {
      const row = await cli.administer((admin) =>
        setPrice(admin, {
          model,
          organizationId: options.org,
          currency: options.currency,
          perImage: options.image,
          perMillion: options.token,
          effectiveFrom: options.from,
        }),
      );
      cli.print(options.json, toView(row), [toRow(row)]);
    });
  prices
    .command("list")
    .description("list price rows, those of the configuration included")
    .option("--org <id>", "rows of this organization only")
    .option("--model <id>", "rows of this model only")
    .option("--json", "print JSON")
    .action(async ({ org, model, json }: { org?: string; model?: string; json?: boolean }) => {
      const rows = await cli.administer(async (admin, settings) => [
        ...(org === undefined ? configuredPrices(settings, model) : []),
        ...(await listPrices(admin, { organizationId: org, model })),
      ]);
      cli.print(json, rows.map(toView), rows.map(toRow));
    });
  addCorrectCommand(prices, cli);
}

interface SetOptions {
  org?: string;
  image?: object;
  token?: object;
  currency?: string;
  from?: number;
  json?: boolean;
}

/** A stored row, or one of the configuration, which has no id. */
type AnyPrice = Omit<PriceRecord, "id" | "createdAt"> & { id: string | null };

function configuredPrices(settings: Settings, wanted: string | undefined): AnyPrice[] {
  const prices = [...settings.prices].filter(([model]) => wanted === undefined || model === wanted);
  return prices.map(([model, price]) => ({
    id: null,
    organizationId: null,
    model,
    currency: price.currency,
    price,
    effectiveFrom: price.effectiveFrom,
  }));
}

function toView({ id, organizationId, model, currency, price, effectiveFrom }: AnyPrice): object {
  const amounts =
    price.unit === "token"
      ? { unit: price.unit, perMillion: toDecimals(price.perMillion) }
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
    effectiveFrom: priceStart(effectiveFrom),
  };
}

function toRow({ id, organizationId, model, currency, price, effectiveFrom }: AnyPrice) {
  return {
    model,
    organization: organizationId ?? "(all)",
    currency,
    price: `${priceAmounts(price).join(", ")} ${price.unit === "token" ? "a million" : "each"}`,
    from: priceStart(effectiveFrom) ?? "always",
    source: id ?? "configuration",
  };
}

function toDecimals(amounts: Readonly<Record<string, Nanos>>): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, formatNanos(amount)]));
}
