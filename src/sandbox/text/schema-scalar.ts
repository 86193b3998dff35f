const MAX_STRING = 4096;

/** A number within the schema's bounds and of its step; `variation` gives others. */
export function sampleNumber(schema: Record<string, unknown>, variation: number): number | undefined {
  const isInteger = [schema["type"]].flat().includes("integer");
  const step = numberOf(schema["multipleOf"]) ?? (isInteger ? 1 : undefined);
  const min = highest(numberOf(schema["minimum"]), numberOf(schema["exclusiveMinimum"]));
  const max = lowest(numberOf(schema["maximum"]), numberOf(schema["exclusiveMaximum"]));
  const candidates =
    step === undefined || step <= 0
      ? betweenCandidates(min, max, variation)
      : stepCandidates(
          min,
          max,
          isInteger && !Number.isInteger(step) ? stepOfIntegers(step) : step,
          variation,
        );
  return candidates.find((value) => isWithin(value, schema));
}

/** Text within the schema's length and of its format; `variation` gives others. */
export function sampleString(
  schema: Record<string, unknown>,
  topic: string,
  variation: number,
): string | undefined {
  const formatted = formattedText(schema["format"], variation);
  if (formatted !== undefined) return formatted;
  const min = numberOf(schema["minLength"]) ?? 0;
  if (min > MAX_STRING) return undefined;
  const max = numberOf(schema["maxLength"]) ?? MAX_STRING;
  const suffix = variation === 0 ? "" : ` ${variation + 1}`;
  const text = Array.from(topic === "" ? "example" : topic);
  while (text.length + suffix.length < min) text.push(" ", ...Array.from(topic || "example"));
  const capacity = Math.max(0, Math.max(max, min) - suffix.length);
  const exact = text.length + suffix.length > max ? text.slice(0, capacity) : text;
  return (exact.join("") + suffix.slice(-max || suffix.length)).slice(0, Math.max(max * 2, 0));
}

/** Values of the formats that JSON Schema 2020-12 names, section 7.3 of its validation vocabulary. */
function formattedText(format: unknown, variation: number): string | undefined {
  const day = String(1 + (variation % 28)).padStart(2, "0");
  switch (format) {
    case "date":
      return `2026-11-${day}`;
    case "date-time":
      return `2026-11-${day}T09:30:00Z`;
    case "time":
      return `09:30:${day}Z`;
    case "duration":
      return `PT${variation + 1}M`;
    case "email":
    case "idn-email":
      return `person${variation + 1}@example.com`;
    case "hostname":
      return `host${variation + 1}.example.com`;
    case "ipv4":
      return `192.0.2.${1 + (variation % 254)}`;
    case "ipv6":
      return `2001:db8::${(variation + 1).toString(16)}`;
    case "uri":
    case "url":
    case "iri":
    case "uri-reference":
      return `https://example.com/${variation + 1}`;
    case "uuid":
      return `6f1d2c3b-4a59-4e87-8f60-${(variation + 1).toString(16).padStart(12, "0")}`;
    default:
      return undefined;
  }
}

function betweenCandidates(min: number | undefined, max: number | undefined, variation: number): number[] {
  if (min !== undefined && max !== undefined) {
    const share = (variation + 1) / (variation + 2);
    return [min + (max - min) * share, min, max];
  }
  if (min !== undefined) return [min + 1 + variation];
  return [max === undefined ? 1 + variation : Math.min(1 + variation, max - 1 - variation)];
}

/** Multiples of the step from the lower bound up, or from the upper bound down. */
function stepCandidates(
  min: number | undefined,
  max: number | undefined,
  step: number,
  variation: number,
): number[] {
  const start = min === undefined ? undefined : Math.ceil(min / step);
  const end = max === undefined ? undefined : Math.floor(max / step);
  const first = start ?? (end === undefined || end >= 1 ? 1 : end - 1);
  const usual =
    start === undefined || start > 1 || (end !== undefined && end < 1) ? first : Math.max(1, first);
  const up = [usual + variation, first + variation, first + 1, first, usual];
  const down = end === undefined ? [] : [end - variation, end, end - 1];
  return [...up, ...down].map((count) => Number((count * step).toPrecision(15)));
}

/** The smallest whole multiple of a fractional step, so that integers stay integers. */
function stepOfIntegers(step: number): number {
  for (let count = 1; count <= 1000; count += 1) if (Number.isInteger(step * count)) return step * count;
  return 1;
}

function isWithin(value: number, schema: Record<string, unknown>): boolean {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  return (
    !(typeof minimum === "number" && value < minimum) &&
    !(typeof maximum === "number" && value > maximum) &&
    !(typeof above === "number" && value <= above) &&
    !(typeof below === "number" && value >= below)
  );
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function highest(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined ? second : Math.max(first, second ?? first);
}

function lowest(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined ? second : Math.min(first, second ?? first);
}
