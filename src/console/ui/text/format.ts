import i18next from "i18next";
import { zoneName } from "./zone.ts";

const CENT = 2;
const MAX_FRACTION = 12;

/** Formats a decimal text such as `"0.042"` in a currency, with all its digits and at least two decimals. */
export function formatMoney(amount: string, currency: string): string {
  return money(amount, currency, CENT, MAX_FRACTION);
}

/** Formats a decimal text in a currency, rounded to the cent. Amounts below a cent have two significant digits. */
export function formatShortMoney(amount: string, currency: string): string {
  const size = Math.abs(Number(amount));
  const most = size > 0 && size < 0.01 ? Math.min(MAX_FRACTION, 1 - Math.floor(Math.log10(size))) : CENT;
  return money(amount, currency, CENT, most);
}

function money(amount: string, currency: string, least: number, most: number): string {
  const digits = { minimumFractionDigits: least, maximumFractionDigits: most };
  if (!isDecimal(amount)) return `${amount} ${currency}`;
  try {
    return format(`money ${currency} ${most}`, { style: "currency", currency, ...digits }).format(amount);
  } catch {
    // The currency is not a code of three letters, which `Intl` requires.
    return `${format(`plain ${most}`, digits).format(amount)} ${currency}`;
  }
}

function isDecimal(text: string): text is `${number}` {
  return /^-?\d+(\.\d+)?$/.test(text);
}

export function formatCount(count: number): string {
  return format("count", { maximumFractionDigits: 2 }).format(count);
}

/** Formats the number of items of a list's first page, with a plus sign if another page follows. */
export function formatItemCount({ data, next }: { data: readonly unknown[]; next: string | null }): string {
  return `${formatCount(data.length)}${next === null ? "" : "+"}`;
}

/** Formats a count in short form, such as 1.2K. */
export function formatShortCount(count: number): string {
  return format("short", { notation: "compact", maximumFractionDigits: 1 }).format(count);
}

/** Formats a share between 0 and 1 as a percentage. */
export function formatShare(share: number): string {
  return format("share", { style: "percent", maximumFractionDigits: share < 0.1 ? 2 : 0 }).format(share);
}

/** Formats milliseconds in the unit that is easiest to read. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return unit(Math.round(ms), "millisecond");
  if (ms < 120_000) return unit(Math.round(ms / 100) / 10, "second");
  if (ms < 7_200_000) return unit(Math.round(ms / 6_000) / 10, "minute");
  return ms < 172_800_000
    ? unit(Math.round(ms / 360_000) / 10, "hour")
    : unit(Math.round(ms / 8_640_000) / 10, "day");
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return unit(bytes, "byte");
  if (bytes < 1_000_000) return unit(Math.round(bytes / 100) / 10, "kilobyte");
  return unit(Math.round(bytes / 100_000) / 10, "megabyte");
}

/** Formats the change from an earlier value as a percentage, such as `+12%`. The earlier value must not be 0. */
export function formatChange(now: number, before: number): string {
  const change = (now - before) / before;
  const sign = change > 0 ? "+" : change < 0 ? "−" : "±";
  return `${sign}${formatShare(Math.abs(change))}`;
}

function unit(value: number, name: string): string {
  return format(name, { style: "unit", unit: name, unitDisplay: "short" }).format(value);
}

const AGES: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000_000],
  ["month", 2_592_000_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
];

/** Maximum difference to the gateway's clock. The page's clock is set only every 20 seconds. */
const CLOCK_SKEW_MS = 30_000;

/** Formats the time since a moment, such as "3 minutes ago". */
export function formatAge(at: number, now: number): string {
  // A time slightly in the future counts as now. Such a time results from the difference between the clocks.
  const distance = at > now && at - now < CLOCK_SKEW_MS ? 0 : at - now;
  const [name, ms] = AGES.find(([, ms]) => Math.abs(distance) >= ms) ?? ["second", 1_000];
  return new Intl.RelativeTimeFormat(i18next.language, { numeric: "auto", style: "short" }).format(
    Math.round(distance / ms),
    name,
  );
}

/** Returns a message of the gateway with a capital at its start. Messages may begin with a lower-case letter. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Formats date and time with the name of the time zone. */
export function formatTime(at: number): string {
  return time({ dateStyle: "medium", timeStyle: "long" }).format(at);
}

/** Formats the time of day; at midnight it formats the date instead. */
export function formatClock(at: number): string {
  const clock = time({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(at);
  return clock === "00:00" ? time({ month: "short", day: "numeric" }).format(at) : clock;
}

/** Formats date and time of day without the year, for lists. */
export function formatMoment(at: number): string {
  return time({
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  }).format(at);
}

/** Formats a day of a report. The day begins at midnight in `zone`. */
export function formatDay(at: number, zone = "UTC"): string {
  return time({ month: "short", day: "numeric", timeZone: zone }).format(at);
}

/** Formats the start of a step of a report. */
export function formatStep(
  at: number,
  step: "minute" | "quarter" | "hour" | "day" | "month",
  zone = "UTC",
): string {
  if (step === "month") return time({ month: "long", year: "numeric", timeZone: "UTC" }).format(at);
  if (step === "day") return `${time({ dateStyle: "medium", timeZone: zone }).format(at)} (${zone})`;
  return formatTime(at);
}

function time(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(i18next.language, { timeZone: zoneName(), ...options });
}

const formats = new Map<string, Intl.NumberFormat>();

function format(name: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${i18next.language} ${name} ${options.maximumFractionDigits ?? ""}`;
  let known = formats.get(key);
  if (!known) formats.set(key, (known = new Intl.NumberFormat(i18next.language, options)));
  return known;
}
