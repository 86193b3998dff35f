import type { Command } from "commander";
import { correctPrice, type PriceCorrection } from "../admin/price-correction.ts";
import { formatNanos } from "../lib/money.ts";
import type { CommandContext } from "./context.ts";
import {
  LONG_ABOVE_OPTION,
  LONG_OPTION,
  longContextOf,
  readTokenCount,
  type LongOptions,
} from "./long-context.ts";
import { readImagePrice, readTime, readTokenPrice, readUsePrice } from "./options.ts";

/** `prices correct`: shows what would change; `--apply` changes it. */
export function addCorrectCommand(prices: Command, cli: CommandContext): void {
  prices
    .command("correct")
    .description("rate past charges anew and book the differences; only shows them without --apply")
    .argument("<model>", "model id")
    .requiredOption("--from <time>", "ISO date or time of the first charge", readTime)
    .requiredOption("--reason <text>", "why; kept in the audit")
    .option(
      "--to <time>",
      "ISO date or time before which the last charge was made; now when absent",
      readTime,
    )
    .option("--org <id>", "charges of this organization; those by a default price when absent")
    .option("--image <tier:quality=amount>", "corrected price of one image (repeatable)", readImagePrice)
    .option("--token <category=amount>", "corrected price of a million tokens (repeatable)", readTokenPrice)
    .option("--use <feature=amount>", "price of one use of a feature (repeatable)", readUsePrice)
    .option("--long <category=amount>", LONG_OPTION, readTokenPrice)
    .option("--long-above <tokens>", LONG_ABOVE_OPTION, readTokenCount)
    .option("--currency <code>", "ISO 4217 code")
    .option("--apply", "book the differences")
    .option("--json", "print JSON")
    .action(async (model: string, options: CorrectOptions) => {
      const { apply, json } = options;
      const correction = await cli.administer((admin) =>
        correctPrice(admin, toInput(model, options, admin.clock.now()), { dryRun: apply !== true }),
      );
      cli.print(json, toView(correction), toRows(correction));
      if (!json) cli.printLine(summary(correction));
    });
}

interface CorrectOptions extends LongOptions {
  from: number;
  reason: string;
  to?: number;
  org?: string;
  image?: object;
  token?: object;
  use?: object;
  currency?: string;
  apply?: boolean;
  json?: boolean;
}

function toInput(model: string, options: CorrectOptions, now: number): object {
  const {
    org: organizationId,
    image: perImage,
    token: perMillion,
    use: perUse,
    currency,
    from,
    to = now,
    reason,
  } = options;
  const longContext = longContextOf(options);
  return { model, organizationId, perImage, perMillion, longContext, perUse, currency, from, to, reason };
}

function toView({ difference, from, to, organizations, ...correction }: PriceCorrection): object {
  return {
    ...correction,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    difference: formatNanos(difference),
    organizations: organizations.map((each) => ({ ...each, difference: formatNanos(each.difference) })),
  };
}

function toRows({ currency, organizations }: PriceCorrection) {
  return organizations.map(({ id, adjusted, difference }) => ({
    organization: id,
    charges: String(adjusted),
    difference: `${formatNanos(difference)} ${currency}`,
  }));
}

function summary({ isApplied, charges, unrated, adjusted, difference, currency }: PriceCorrection): string {
  const unratedPart = unrated > 0 ? `; ${unrated} cannot be rated by this price` : "";
  const found = `${adjusted} of ${charges} charges differ, by ${formatNanos(difference)} ${currency}${unratedPart}.`;
  if (adjusted === 0) return `${found} Nothing to correct.`;
  return isApplied ? `${found} Booked.` : `${found} Nothing is changed yet: repeat with --apply.`;
}
