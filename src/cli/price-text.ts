import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../domain/usage.ts";
import type { Output } from "./context.ts";

type PriceView = Output<"prices.list">["data"][number];

/** A price row in a line: `input 0.10, input above 200000 0.20 a million`, `1K:high 0.04 each`. */
export function priceText({
  unit,
  perImage = {},
  perMillion = {},
  longContext,
  perUse = {},
}: PriceView): string {
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
