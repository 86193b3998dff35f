import { InvalidArgumentError } from "commander";
import { PRICEABLE_FEATURES } from "../domain/feature.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../domain/usage.ts";
import { collectOrAll, readCount, readWord, requireName, splitPair, UNSET } from "./options.ts";

/** Readers of option texts by field name, for fields whose text on the command line differs from their schema. */
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

/** Reads an address and adds it to the addresses of earlier options. `any` removes the restriction. */
function readAddress(value: string, earlier: string[] | typeof UNSET = []): string[] | typeof UNSET {
  return value === "any" || earlier === UNSET ? UNSET : [...earlier, value];
}

/** Reads the id of a channel, or `next`. */
function readChannelOrNext(value: string): string | typeof UNSET {
  return value === "next" ? UNSET : value;
}

/** Reads a scope and adds it to the scopes of earlier options. */
function readScope(value: string, earlier: string[] = []): string[] {
  return [...earlier, readWord("ai:image", "ai:llm", "ai:*")(value)];
}

/** Reads `on`, `off` or `unset`. */
function readThreeState(value: string): boolean | typeof UNSET {
  return readWord("on", "off", "unset")(value) === "unset" ? UNSET : value === "on";
}

/** Reads a number of seconds, or `off`. Returns milliseconds. */
function readSecondsOrOff(value: string): number | typeof UNSET {
  if (value === "off") return UNSET;
  if (/^[1-9]\d{0,3}$/.test(value) && Number(value) <= 3600) return Number(value) * 1000;
  throw new InvalidArgumentError('It must be whole seconds from 1 to 3600, or "off".');
}

/** Reads a number of days, or `off`. */
function readDaysOrOff(value: string): number | typeof UNSET {
  if (value === "off") return UNSET;
  if (/^[1-9]\d{0,2}$/.test(value) && Number(value) <= 365) return Number(value);
  throw new InvalidArgumentError('It must be whole days from 1 to 365, or "off".');
}

/** Reads the hours for which a link is valid, or `default`. */
function readHoursOrDefault(value: string): number | typeof UNSET {
  if (value === "default") return UNSET;
  if (/^\d{1,3}(\.\d{1,2})?$/.test(value) && Number(value) >= 0.01 && Number(value) <= 168)
    return Number(value);
  throw new InvalidArgumentError('It must be hours from 0.01 to 168, or "default".');
}

/** Reads `0`, or minutes, hours or days, such as `30m`, `24h` or `7d`. Returns milliseconds. */
function readDuration(value: string): number {
  if (value === "0") return 0;
  const [, count, unit = ""] = /^(\d{1,5})([mhd])$/.exec(value) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs !== undefined) return Number(count) * unitMs;
  throw new InvalidArgumentError("It must be minutes, hours or days, such as 30m, 24h or 7d.");
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a number of tokens, at least 1. */
function readTokenCount(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number of tokens from 1.");
}

/** Reads the `sequence` of a ledger entry. */
function readSequence(value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be the `sequence` of an entry, or 0.");
}

type ImagePrices = Record<string, Record<string, string>>;

/** Reads a price such as `1K:high=0.04`. `1K=0.04` applies to all qualities without a price of their own. */
function readImagePrice(value: string, earlier: ImagePrices = {}): ImagePrices {
  const [cell, amount] = splitPair(value, "1K:high=0.04");
  const [tier = "", quality = "*"] = cell.split(":");
  return { ...earlier, [tier]: { ...earlier[tier], [quality]: amount } };
}

/** Reads a price of tokens such as `cache_read=0.01` and adds it to the prices of earlier options. */
function readTokenPrice(value: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [name, amount] = splitPair(value, "input=0.10");
  requireName(name, Object.values(TOKEN_CATEGORY_NAMES), "a category of tokens");
  const category = TOKEN_CATEGORIES.find((each) => TOKEN_CATEGORY_NAMES[each] === name) ?? name;
  return { ...earlier, [category]: amount };
}

/** Reads a price of uses such as `web_search=0.01` and adds it to the prices of earlier options. */
function readUsePrice(value: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [name, amount] = splitPair(value, "web_search=0.01");
  requireName(name, PRICEABLE_FEATURES, "a feature with a price");
  return { ...earlier, [name]: amount };
}

interface Target {
  channel: string;
  upstreamModel: string;
  weight?: number;
}

/**
 * Reads a target such as `channel/upstream-model=3`, with its weight, and adds it to the targets of earlier options.
 */
function readTarget(value: string, earlier: Target[] = []): Target[] {
  const match = /^([^/]+)\/(.+?)(?:=(\d{1,7}))?$/.exec(value);
  const [, channel, upstreamModel, weight] = match ?? [];
  if (channel === undefined || upstreamModel === undefined)
    throw new InvalidArgumentError("It must be channel/upstream-model, or channel/upstream-model=weight.");
  return [...earlier, { channel, upstreamModel, ...(weight !== undefined && { weight: Number(weight) }) }];
}

/** Reads a setting such as `fan_out=true` and adds it to the settings of earlier options. JSON values are parsed. */
function readSetting(value: string, earlier: Record<string, unknown> = {}): Record<string, unknown> {
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
