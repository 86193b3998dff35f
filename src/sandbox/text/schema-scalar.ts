const MAX_STRING = 4096;

/**
 * Returns a number within the bounds of the schema that is a multiple of its `multipleOf`. For an integer, only a whole
 * `multipleOf` counts. Undefined when no such number is found. Different values of `variation` give different numbers
 * if the bounds allow it.
 */
export function sampleNumber(schema: Record<string, unknown>, variation: number): number | undefined {
  const isInteger = [schema["type"]].flat().includes("integer");
  const above = numberOf(schema["exclusiveMinimum"], -Infinity);
  const below = numberOf(schema["exclusiveMaximum"], Infinity);
  const low = Math.max(numberOf(schema["minimum"], -Infinity), above);
  const high = Math.min(numberOf(schema["maximum"], Infinity), below);
  const multipleOf = numberOf(schema["multipleOf"], 0);
  const step = isInteger && !(multipleOf >= 1 && Number.isInteger(multipleOf)) ? 1 : multipleOf;
  const candidates =
    step > 0 || !Number.isFinite(high - low)
      ? stepsBetween(low, high, step || 1, variation)
      : [low + ((high - low) * (variation + 1)) / (variation + 2), low];
  return candidates.find((value) => value >= low && value <= high && value !== above && value !== below);
}

/** Returns multiples of the step to try, best first: some near the lower bound or 1, then some near the upper bound. */
function stepsBetween(low: number, high: number, step: number, variation: number): number[] {
  const first = Math.max(Math.ceil(low / step), Math.min(1, Math.floor(high / step) - 1));
  const last = Math.floor(high / step);
  const counts = [first + variation, first + 1, first, last - variation, last];
  return counts.map((count) => Number((count * step).toPrecision(15)));
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

/**
 * Returns a text in the schema's `format`. Without a known format, returns a text of an allowed length, or undefined if
 * `minLength` exceeds `MAX_STRING`. Different values of `variation` mostly give different texts.
 */
export function sampleString(
  schema: Record<string, unknown>,
  topic: string,
  variation: number,
): string | undefined {
  const { format } = schema;
  if (typeof format === "string" && Object.hasOwn(FORMATS, format)) return FORMATS[format]?.(variation + 1);
  const min = numberOf(schema["minLength"], 0);
  const max = numberOf(schema["maxLength"], MAX_STRING);
  if (min > MAX_STRING) return undefined;
  const suffix = variation === 0 ? "" : ` ${variation + 1}`;
  const word = topic || "example";
  const length = Math.max(
    0,
    Math.min(Math.max(min - suffix.length, Array.from(word).length), max - suffix.length),
  );
  const text = Array.from(`${word} `.repeat(Math.ceil(length / word.length) + 1)).slice(0, length);
  return (text.join("") + suffix).slice(-max || MAX_STRING);
}

/** Sample values for formats of JSON Schema 2020-12 (section 7.3 of its validation vocabulary), and for `url`. */
const FORMATS: Readonly<Record<string, (number: number) => string>> = {
  date: (number) => `2026-11-${twoDigits(number)}`,
  "date-time": (number) => `2026-11-${twoDigits(number)}T09:30:00Z`,
  time: (number) => `09:30:${twoDigits(number)}Z`,
  duration: (number) => `PT${number}M`,
  email: (number) => `person${number}@example.com`,
  "idn-email": (number) => `person${number}@example.com`,
  hostname: (number) => `host${number}.example.com`,
  ipv4: (number) => `192.0.2.${1 + ((number - 1) % 254)}`,
  ipv6: (number) => `2001:db8::${number.toString(16)}`,
  uri: (number) => `https://example.com/${number}`,
  url: (number) => `https://example.com/${number}`,
  iri: (number) => `https://example.com/${number}`,
  "uri-reference": (number) => `https://example.com/${number}`,
  uuid: (number) => `6f1d2c3b-4a59-4e87-8f60-${number.toString(16).padStart(12, "0")}`,
};

function twoDigits(number: number): string {
  return String(1 + ((number - 1) % 28)).padStart(2, "0");
}
