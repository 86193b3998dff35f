import { InvalidArgumentError } from "commander";
import { NO_LIMITS } from "../domain/limits.ts";
import { camelCase, snakeCase } from "../lib/casing.ts";
import { didYouMean } from "../lib/suggest.ts";

/** Adds a text to the texts of earlier options. Readers throw commander's `InvalidArgumentError` for a usage error. */
export function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value];
}

/** Adds a text to the texts of earlier options. `*` means all. */
export function collectOrAll(value: string, earlier: string[] | "*" = []): string[] | "*" {
  return value === "*" || earlier === "*" ? "*" : [...earlier, value];
}

/** Returns a reader that accepts one of these words. */
export function readWord(...words: readonly string[]): (value: string) => string {
  return (value) => {
    if (words.includes(value)) return value;
    throw new InvalidArgumentError(`It must be ${words.map((word) => `"${word}"`).join(" or ")}.`);
  };
}

/** Reads a name of 1 to 100 characters. */
export function readName(value: string): string {
  const name = value.trim();
  if (name !== "" && name.length <= 100) return name;
  throw new InvalidArgumentError("It must have 1 to 100 characters.");
}

/** Reads `on` or `off`. */
export function readSwitch(value: string): boolean {
  return readWord("on", "off")(value) === "on";
}

/** A value that removes a setting. The command-line library would convert null to an empty text. */
export const UNSET = Symbol("unset");

/** Reads an ISO date or time. Returns Unix milliseconds. A time without a zone is in UTC on every machine. */
export function readTime(value: string): number {
  const [, date = "", clock = "00:00", seconds = ":00.000", zone = "Z"] = TIME.exec(value) ?? [];
  if (date === "")
    throw new InvalidArgumentError("It must be a date or time such as 2026-12-31 or 2026-12-31T18:00:00Z.");
  const local = Date.parse(`${date}T${clock}${seconds}Z`);
  const time = Date.parse(`${date}T${clock}${seconds}${zone}`);
  // A day that does not exist, such as 31 June, would become a day of the next month.
  const isReal = Number.isFinite(time) && new Date(local).toISOString().startsWith(`${date}T${clock}`);
  if (!isReal) throw new InvalidArgumentError("It must be a date or time that exists.");
  return time;
}

/** Reads a time, or `never`. */
export function readTimeOrNever(value: string): number | typeof UNSET {
  return value === "never" ? UNSET : readTime(value);
}

const TIME = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2})(:\d{2}(?:\.\d{3})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Reads a whole number, at least 1. */
export function readCount(value: string): number {
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number from 1.");
}

type Limits = Record<string, number | null | "default">;

/** Reads a limit such as `requests_per_minute=600`. `none` means no limit, `default` the default limit. */
export function readLimit(value: string, earlier: Limits = {}): Limits {
  const [name, amount] = splitPair(value, "requests_per_minute=600");
  requireName(name, Object.keys(NO_LIMITS).map(snakeCase), "a limit");
  if (amount === "none") return { ...earlier, [camelCase(name)]: null };
  if (amount === "default") return { ...earlier, [camelCase(name)]: amount };
  if (/^\d{1,12}$/.test(amount)) return { ...earlier, [camelCase(name)]: Number(amount) };
  throw new InvalidArgumentError('A limit is a whole number, "none" or "default".');
}

/** Returns the limits of an organization or key as text, in the form that `readLimit` reads. */
export function limitText(limits: Readonly<Record<string, number | null>>): string {
  return Object.entries(limits)
    .map(([name, value]) => `${snakeCase(name)}=${value ?? "none"}`)
    .join(" ");
}

export function requireName(name: string, known: readonly string[], noun: string): void {
  if (known.includes(name)) return;
  const suggestion = didYouMean(name, known) || `; there are ${known.join(", ")}`;
  throw new InvalidArgumentError(`"${name}" is not ${noun}${suggestion}`);
}

export function splitPair(value: string, example: string): [string, string] {
  const at = value.indexOf("=");
  if (at < 1 || at === value.length - 1) throw new InvalidArgumentError(`It must be of the form ${example}.`);
  return [value.slice(0, at), value.slice(at + 1)];
}

/** Returns the text of the file that an argument names. `-` means the standard input. */
export async function readInputFile(name: string): Promise<string> {
  try {
    return await (name === "-" ? Bun.stdin : Bun.file(name)).text();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    const reason = code === "ENOENT" ? "there is no such file" : code;
    throw new Error(`"${name}" cannot be read (${reason})`, { cause: error });
  }
}
