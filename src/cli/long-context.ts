import { InvalidArgumentError } from "commander";
import type { Input } from "./context.ts";

type LongContext = NonNullable<Input<"prices.create">["longContext"]>;

/** The options of prices that depend on a request's length. */
export interface LongOptions {
  long?: LongContext["perMillion"];
  longAbove?: number;
}

export const LONG_OPTION = "price of a million tokens in long requests (repeatable), with --long-above";
export const LONG_ABOVE_OPTION = "requests with more tokens of input than this are long";

/** A number of tokens from 1. */
export function readTokenCount(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number of tokens from 1.");
}

/** Both options as one field; what is missing of the two is reported as missing there. */
export function longContextOf({ long, longAbove }: LongOptions): LongContext | undefined {
  if (!long && longAbove === undefined) return undefined;
  // What is missing of the two is refused by its name.
  return { above: longAbove as number, perMillion: long ?? {} };
}
