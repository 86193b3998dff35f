import type { PriceRecord } from "../admin/ports.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../domain/usage.ts";
import { formatNanos } from "../lib/money.ts";

/** The amounts of a price under the names by which options set them: `cache_read 0.01`, `1K:high 0.04`. */
export function priceAmounts(price: PriceRecord["price"]): string[] {
  if (price.unit === "image")
    return Object.entries(price.perImage).flatMap(([tier, row]) =>
      Object.entries(row).map(([quality, amount]) => `${tier}:${quality} ${formatNanos(amount)}`),
    );
  return TOKEN_CATEGORIES.flatMap((category) => {
    const amount = price.perMillion[category];
    return amount === undefined ? [] : [`${TOKEN_CATEGORY_NAMES[category]} ${formatNanos(amount)}`];
  });
}
