import type { Input } from "./context.ts";
import type { FieldOptions } from "./operation-command.ts";
import { readImagePrice, readTokenCount, readTokenPrice, readUsePrice } from "./options.ts";

/** The amounts of a price and its currency, which a new row and a correction name alike. */
export function amountFields(texts: { image: string; tokens: string }) {
  return {
    perImage: { flags: "--image <tier:quality=amount>", text: texts.image, read: readImagePrice },
    perMillion: { flags: "--tokens <category=amount>", text: texts.tokens, read: readTokenPrice },
    perUse: {
      flags: "--use <feature=amount>",
      text: "price of one use of a feature (repeatable)",
      read: readUsePrice,
    },
    "longContext.perMillion": {
      flags: "--long <category=amount>",
      text: "price of a million tokens in long requests (repeatable), with --long-above",
      read: readTokenPrice,
    },
    "longContext.above": {
      flags: "--long-above <tokens>",
      text: "requests with more tokens of input than this are long",
      read: readTokenCount,
    },
    currency: { flags: "--currency <code>", text: "ISO 4217 code" },
  } satisfies FieldOptions<"prices.create" | "priceCorrections.apply">;
}

/** With the prices of long requests that lack their amounts as empty ones, which the operation refuses by its own words. */
export function withLongAmounts<Given extends Pick<Input<"prices.create">, "longContext">>(
  given: Given,
): Given {
  const { longContext } = given;
  return longContext
    ? { ...given, longContext: { ...longContext, perMillion: longContext.perMillion ?? {} } }
    : given;
}
