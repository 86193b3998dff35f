import type { CommandInput } from "./context.ts";
import type { FieldOptions } from "./operation-command.ts";

/**
 * Returns the options for the amounts and currency of a price. New price rows and price corrections have these options.
 */
export function amountFields(texts: { image: string; tokens: string }) {
  return {
    perImage: `--image <tier:quality=amount>  ${texts.image}`,
    perMillion: `--tokens <category=amount>  ${texts.tokens}`,
    perUse: "--use <feature=amount>  price of one use of a feature (repeatable)",
    "longContext.perMillion":
      "--long <category=amount>  price of a million tokens in long requests (repeatable), with --long-above",
    "longContext.above": "--long-above <tokens>  requests with more tokens of input than this are long",
    currency: "--currency <code>  ISO 4217 code",
  } satisfies FieldOptions<"prices.create" | "priceCorrections.apply">;
}

/**
 * Returns the input. If it has `longContext` without amounts, adds an empty object of amounts, so that the operation
 * refuses the input with its usual message.
 */
export function withLongAmounts<Given extends Pick<CommandInput<"prices.create">, "longContext">>(
  given: Given,
): Given {
  const { longContext } = given;
  return longContext
    ? { ...given, longContext: { ...longContext, perMillion: longContext.perMillion ?? {} } }
    : given;
}
