import { InvalidArgumentError } from "commander";
import { PRICEABLE_FEATURES } from "../domain/feature.ts";
import { NO_LIMITS } from "../domain/limits.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../domain/usage.ts";
import { camelCase, snakeCase } from "../lib/casing.ts";
import { didYouMean } from "../lib/suggest.ts";

/**
 * Readers of option values. Each throws commander's `InvalidArgumentError`, which ends as a usage error.
 */
export function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value];
}

/** Collects texts; `*` stands for all. */
export function collectOrAll(value: string, earlier: string[] | "*" = []): string[] | "*" {
  return value === "*" || earlier === "*" ? "*" : [...earlier, value];
}

/** One of some words. */
export function readWord(...words: readonly string[]): (value: string) => string {
  return (value) => {
    if (words.includes(value)) return value;
    throw new InvalidArgumentError(`It must be ${words.map((word) => `"${word}"`).join(" or ")}.`);
  };
}

/** A name of 1 to 100 characters. */
export function readName(value: string): string {
  const name = value.trim();
  if (name !== "" && name.length <= 100) return name;
  throw new InvalidArgumentError("It must have 1 to 100 characters.");
}

/** Collects addresses; `any` takes the restriction back. */
export function readAddress(value: string, earlier: string[] | typeof UNSET = []): string[] | typeof UNSET {
  return value === "any" || earlier === UNSET ? UNSET : [...earlier, value];
}

/** The id of a channel, or `next`. */
export function readChannelOrNext(value: string): string | typeof UNSET {
  return value === "next" ? UNSET : value;
}

/** Collects scopes. */
export function readScope(value: string, earlier: string[] = []): string[] {
  return [...earlier, readWord("ai:image", "ai:llm", "ai:*")(value)];
}

/** `on` and `off`. */
export function readSwitch(value: string): boolean {
  return readWord("on", "off")(value) === "on";
}

/** Value that removes a setting. The command-line library turns a null into an empty text. */
export const UNSET = Symbol("unset");

/** `on`, `off` and `unset`. */
export function readThreeState(value: string): boolean | typeof UNSET {
  return readWord("on", "off", "unset")(value) === "unset" ? UNSET : value === "on";
}

/** Seconds as milliseconds, or `off`. */
export function readSecondsOrOff(value: string): number | typeof UNSET {
  if (value === "off") return UNSET;
  if (/^[1-9]\d{0,3}$/.test(value) && Number(value) <= 3600) return Number(value) * 1000;
  throw new InvalidArgumentError('It must be whole seconds from 1 to 3600, or "off".');
}

/** Days, or `off`. */
export function readDaysOrOff(value: string): number | typeof UNSET {
  if (value === "off") return UNSET;
  if (/^[1-9]\d{0,2}$/.test(value) && Number(value) <= 365) return Number(value);
  throw new InvalidArgumentError('It must be whole days from 1 to 365, or "off".');
}

/** Hours of a link's life, or `default`. */
export function readHoursOrDefault(value: string): number | typeof UNSET {
  if (value === "default") return UNSET;
  if (/^\d{1,3}(\.\d{1,2})?$/.test(value) && Number(value) >= 0.01 && Number(value) <= 168)
    return Number(value);
  throw new InvalidArgumentError('It must be hours from 0.01 to 168, or "default".');
}

/** An ISO date or time as Unix milliseconds; without a zone it is UTC, wherever the command runs. */
export function readTime(value: string): number {
  const [, date = "", clock = "00:00", seconds = ":00.000", zone = "Z"] = TIME.exec(value) ?? [];
  if (date === "")
    throw new InvalidArgumentError("It must be a date or time such as 2026-12-31 or 2026-12-31T18:00:00Z.");
  const local = Date.parse(`${date}T${clock}${seconds}Z`);
  const time = Date.parse(`${date}T${clock}${seconds}${zone}`);
  // A day that its month does not have would roll over into the next.
  const isReal = Number.isFinite(time) && new Date(local).toISOString().startsWith(`${date}T${clock}`);
  if (!isReal) throw new InvalidArgumentError("It must be a date or time that exists.");
  return time;
}

/** A time, or `never`. */
export function readTimeOrNever(value: string): number | typeof UNSET {
  return value === "never" ? UNSET : readTime(value);
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Minutes, hours or days such as `30m`, `24h` and `7d`, as milliseconds. */
export function readDuration(value: string): number {
  if (value === "0") return 0;
  const [, count, unit = ""] = /^(\d{1,5})([mhd])$/.exec(value) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs !== undefined) return Number(count) * unitMs;
  throw new InvalidArgumentError("It must be minutes, hours or days, such as 30m, 24h or 7d.");
}

const TIME = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2})(:\d{2}(?:\.\d{3})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** A number of tokens from 1. */
export function readTokenCount(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number of tokens from 1.");
}

/** A whole number from 1. */
export function readCount(value: string): number {
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number from 1.");
}

/** Reads the `sequence` of an entry of the ledger. */
export function readSequence(value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be the `sequence` of an entry, or 0.");
}

type Limits = Record<string, number | null | "default">;

/** Collects `requests_per_minute=600`; `none` lifts a limit, `default` gives it back. */
export function readLimit(value: string, earlier: Limits = {}): Limits {
  const [name, amount] = splitPair(value, "requests_per_minute=600");
  requireName(name, Object.keys(NO_LIMITS).map(snakeCase), "a limit");
  if (amount === "none") return { ...earlier, [camelCase(name)]: null };
  if (amount === "default") return { ...earlier, [camelCase(name)]: amount };
  if (/^\d{1,12}$/.test(amount)) return { ...earlier, [camelCase(name)]: Number(amount) };
  throw new InvalidArgumentError('A limit is a whole number, "none" or "default".');
}

/** Own limits in the words of `readLimit`. */
export function limitText(limits: Readonly<Record<string, number | null>>): string {
  return Object.entries(limits)
    .map(([name, value]) => `${snakeCase(name)}=${value ?? "none"}`)
    .join(" ");
}

type ImagePrices = Record<string, Record<string, string>>;

/** Collects `1K:high=0.04`; `1K=0.04` is for every quality without a price of its own. */
export function readImagePrice(value: string, earlier: ImagePrices = {}): ImagePrices {
  const [cell, amount] = splitPair(value, "1K:high=0.04");
  const [tier = "", quality = "*"] = cell.split(":");
  return { ...earlier, [tier]: { ...earlier[tier], [quality]: amount } };
}

/** Collects `cache_read=0.01`. */
export function readTokenPrice(value: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [name, amount] = splitPair(value, "input=0.10");
  requireName(name, Object.values(TOKEN_CATEGORY_NAMES), "a category of tokens");
  const category = TOKEN_CATEGORIES.find((each) => TOKEN_CATEGORY_NAMES[each] === name) ?? name;
  return { ...earlier, [category]: amount };
}

/** Collects `web_search=0.01`. */
export function readUsePrice(value: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [name, amount] = splitPair(value, "web_search=0.01");
  requireName(name, PRICEABLE_FEATURES, "a feature with a price");
  return { ...earlier, [name]: amount };
}

interface Target {
  channel: string;
  upstreamModel: string;
  weight?: number;
}

/** Collects `channel/upstream-model`, with `=3` for a weight. */
export function readTarget(value: string, earlier: Target[] = []): Target[] {
  const match = /^([^/]+)\/(.+?)(?:=(\d{1,7}))?$/.exec(value);
  const [, channel, upstreamModel, weight] = match ?? [];
  if (channel === undefined || upstreamModel === undefined)
    throw new InvalidArgumentError("It must be channel/upstream-model, or channel/upstream-model=weight.");
  return [...earlier, { channel, upstreamModel, ...(weight !== undefined && { weight: Number(weight) }) }];
}

function requireName(name: string, known: readonly string[], noun: string): void {
  if (known.includes(name)) return;
  const suggestion = didYouMean(name, known) || `; there are ${known.join(", ")}`;
  throw new InvalidArgumentError(`"${name}" is not ${noun}${suggestion}`);
}

function splitPair(value: string, example: string): [string, string] {
  const at = value.indexOf("=");
  if (at < 1 || at === value.length - 1) throw new InvalidArgumentError(`It must be of the form ${example}.`);
  return [value.slice(0, at), value.slice(at + 1)];
}

/** Collects `fan_out=true`; what is JSON is read as such. */
export function readSetting(value: string, earlier: Record<string, unknown> = {}): Record<string, unknown> {
  const [, name = "", text = ""] = /^([A-Za-z][\w]*)=(.*)$/s.exec(value) ?? [];
  if (name === "") throw new InvalidArgumentError("It must be name=value, such as fan_out=true.");
  return { ...earlier, [name]: jsonOrText(text) };
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Readers of fields, by their names, whose words at the command line are not those of their schemas. */
export const FIELD_READERS: Readonly<Record<string, (text: string, earlier?: never) => unknown>> = {
  scopes: readScope,
  models: collectOrAll,
  organizations: collectOrAll,
  addresses: readAddress,
  overlapMs: readDuration,
  forceImageUrls: readThreeState,
  fallbackAfterMs: readSecondsOrOff,
  fallbackChannel: readChannelOrNext,
  promptLogDays: readDaysOrOff,
  linkHours: readHoursOrDefault,
  perImage: readImagePrice,
  perMillion: readTokenPrice,
  perUse: readUsePrice,
  above: readTokenCount,
  targets: readTarget,
  settings: readSetting,
  maxConcurrent: readCount,
  limit: readCount,
  after: readSequence,
};

/** The text of a file that an argument names; `-` is the standard input. */
export async function readInputFile(name: string): Promise<string> {
  try {
    return await (name === "-" ? Bun.stdin : Bun.file(name)).text();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    const reason = code === "ENOENT" ? "there is no such file" : code;
    throw new Error(`"${name}" cannot be read (${reason})`, { cause: error });
  }
}
