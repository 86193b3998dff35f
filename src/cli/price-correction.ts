import type { Command } from "commander";
import { countText } from "../lib/count-text.ts";
import type { CommandContext, CommandOutput } from "./context.ts";
import { runLongOperation } from "./long-work.ts";
import { addFields } from "./operation-command.ts";
import { amountFields, withLongAmounts } from "./price-fields.ts";

/** Adds the command `prices correct`. The command only shows the changes; with `--apply` it makes the changes. */
export function addCorrectCommand(prices: Command, cli: CommandContext): void {
  const command = prices
    .command("correct")
    .description("rate past charges anew and book the differences; only shows them without --apply");
  const read = addFields(command, "priceCorrections.apply", {
    model: "<model>  model id",
    from: "--from <time>  ISO date or time of the first charge",
    reason: "--reason <text>  why; kept in the audit",
    to: "--to <time>  ISO date or time before which the last charge was made; now when absent",
    organizationId: "--org <id>  charges of this organization; those by a default price when absent",
    ...amountFields({
      image: "corrected price of one image (repeatable)",
      tokens: "corrected price of a million tokens (repeatable)",
    }),
  });
  command
    .option("--apply", "book the differences")
    .option("--json", "print JSON")
    .action(async () => {
      const { apply, json } = command.opts<{ apply?: boolean; json?: boolean }>();
      const name = apply ? "priceCorrections.apply" : "priceCorrections.preview";
      const input = withLongAmounts(read());
      const correction = await runLongOperation(
        cli,
        {
          step: "Rating charges.",
          ...(apply && { whenInterrupted: "Booked corrections stay; the same command books the others." }),
        },
        (onProgress) => cli.existing.run(name, input, onProgress),
      );
      cli.print(json, correction, toRows(correction));
      if (!json) cli.printLine(summary(correction));
    });
}

type Correction = CommandOutput<"priceCorrections.apply">;

function toRows({ currency, organizations }: Correction) {
  return organizations.map(({ id, adjusted, difference }) => ({
    organization: id,
    charges: String(adjusted),
    difference: `${difference} ${currency}`,
  }));
}

function summary({ isApplied, charges, unrated, adjusted, difference, currency }: Correction): string {
  const unratedPart = unrated > 0 ? `; ${unrated} cannot be rated by this price` : "";
  const all = `of ${countText(charges, "charge")}`;
  const differing = countText(adjusted, `${all} differs`, `${all} differ`);
  const found = `${differing}, by ${difference} ${currency}${unratedPart}.`;
  if (adjusted === 0) return `${found} Nothing to correct.`;
  return isApplied ? `${found} Booked.` : `${found} Nothing is changed yet: repeat with --apply.`;
}
