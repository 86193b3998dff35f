import type { Command } from "commander";
import type { CommandContext, Input, Output } from "./context.ts";
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
    .option("--tokens <category=amount>", "corrected price of a million tokens (repeatable)", readTokenPrice)
    .option("--use <feature=amount>", "price of one use of a feature (repeatable)", readUsePrice)
    .option("--long <category=amount>", LONG_OPTION, readTokenPrice)
    .option("--long-above <tokens>", LONG_ABOVE_OPTION, readTokenCount)
    .option("--currency <code>", "ISO 4217 code")
    .option("--apply", "book the differences")
    .option("--json", "print JSON")
    .action(async (model: string, options: CorrectOptions) => {
      const { apply, json } = options;
      const name = apply ? "priceCorrections.apply" : "priceCorrections.preview";
      const correction = await cli.run(name, toInput(model, options));
      cli.print(json, correction, toRows(correction));
      if (!json) cli.printLine(summary(correction));
    });
}

type CorrectionInput = Input<"priceCorrections.apply">;
type Correction = Output<"priceCorrections.apply">;

interface CorrectOptions extends LongOptions {
  from: number;
  reason: string;
  to?: number;
  org?: string;
  image?: CorrectionInput["perImage"];
  tokens?: CorrectionInput["perMillion"];
  use?: CorrectionInput["perUse"];
  currency?: string;
  apply?: boolean;
  json?: boolean;
}

function toInput(model: string, options: CorrectOptions): CorrectionInput {
  const {
    org: organizationId,
    image: perImage,
    tokens: perMillion,
    use: perUse,
    currency,
    from,
    to,
    reason,
  } = options;
  const longContext = longContextOf(options);
  return { model, organizationId, perImage, perMillion, longContext, perUse, currency, from, to, reason };
}

function toRows({ currency, organizations }: Correction) {
  return organizations.map(({ id, adjusted, difference }) => ({
    organization: id,
    charges: String(adjusted),
    difference: `${difference} ${currency}`,
  }));
}

function summary({ isApplied, charges, unrated, adjusted, difference, currency }: Correction): string {
  const unratedPart = unrated > 0 ? `; ${unrated} cannot be rated by this price` : "";
  const found = `${adjusted} of ${charges} charges differ, by ${difference} ${currency}${unratedPart}.`;
  if (adjusted === 0) return `${found} Nothing to correct.`;
  return isApplied ? `${found} Booked.` : `${found} Nothing is changed yet: repeat with --apply.`;
}
