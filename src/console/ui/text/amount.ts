import { ApiError } from "../../api/call.ts";

const AMOUNT = /^\d{1,9}(\.\d{1,9})?$/;
const PLACES = 12;

/** True for a text in the gateway's form of an amount. */
export function isAmount(text: string): boolean {
  return AMOUNT.test(text);
}

/** Throws an `ApiError` for a text that is not an amount. The message is then shown beside the field. */
export function requireAmount(text: string, field: string, message: string): void {
  if (!isAmount(text)) throw new ApiError(400, "bad_request", message, field, null);
}

/** Returns the exact sum of decimal texts, which may be negative. */
export function sum(amounts: readonly string[]): string {
  return render(amounts.reduce((total, amount) => total + parse(amount), 0n));
}

/** Returns the exact difference of two decimal texts. */
export function subtract(from: string, amount: string): string {
  return render(parse(from) - parse(amount));
}

function parse(amount: string): bigint {
  const [, sign = "", whole = "0", fraction = ""] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(amount) ?? [];
  const value = BigInt(whole + fraction.slice(0, PLACES).padEnd(PLACES, "0"));
  return sign === "" ? value : -value;
}

function render(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(PLACES + 1, "0");
  const fraction = digits
    .slice(-PLACES)
    .replace(/(?<!0)0+$/, "")
    .padEnd(2, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -PLACES)}.${fraction}`;
}
