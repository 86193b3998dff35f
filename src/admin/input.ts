import { operatorMessage } from "../domain/operator-message.ts";
import { z, type ZodType } from "zod";
import { parseNanos, type Nanos } from "../lib/money.ts";
import { isPlainName } from "../lib/plain-name.ts";
import { formatPath, inputError, problemAt, readStrictly } from "../domain/schema-problems.ts";
import { TARGET_REASONING } from "../domain/model.ts";
import { AdminError, wrongInput } from "./admin-error.ts";

/** Checks input and returns the schema's output. Throws an `AdminError` that lists wrong and unknown fields. */
export function readInput<Schema extends ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = readStrictly(schema, input);
  if ("value" in result) {
    const field = fieldWithNul(result.value);
    if (field !== null) throw wrongInput([problemAt(field, operatorMessage("input.nul", {}))]);
    return result.value;
  }
  throw wrongInput(result.problems);
}

/** Returns the path of a text that contains a NUL character, which PostgreSQL refuses; null when no text has one. */
function fieldWithNul(value: unknown, path: readonly PropertyKey[] = []): string | null {
  if (typeof value === "string") return value.includes("\0") ? formatPath(path) : null;
  if (typeof value !== "object" || value === null) return null;
  for (const [name, part] of Object.entries(value)) {
    if (name.includes("\0")) return formatPath(path);
    const field = fieldWithNul(part, [...path, Array.isArray(value) ? Number(name) : name]);
    if (field !== null) return field;
  }
  return null;
}

/** Schema of names that people choose. */
export const nameSchema = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine(isPlainName, { error: inputError("input.plainName", {}) });

/**
 * Maximum length of a list in one record. Every process keeps these lists in memory and compares requests with them.
 */
export const MAX_LISTED = 1000;

/** Schema of lists of models: ids, and patterns that cover several models. */
export const modelListSchema = z.array(z.string().max(256)).max(MAX_LISTED);

/** Schema of the revision that a change is based on. The change is refused when the record has another revision. */
export const versionSchema = z.int().min(0).optional();

/** Throws 409 when a change is not based on the current version of the record. */
export function requireVersion(before: { version: number }, version: number | undefined): void {
  if (version === undefined || version === before.version) return;
  throw new AdminError(409, "version", operatorMessage("error.version", { version }));
}

/** Schema of `true` and `false`, also as texts of a query. */
export const flagSchema = z
  .union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")], {
    error: inputError("input.flag", {}),
  })
  .meta({ type: "boolean" });

/** Schema of a time, as ISO 8601 with a zone or as Unix milliseconds. Its output is Unix milliseconds. */
export const timeSchema = z.union(
  [z.int().min(0), z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))],
  { error: inputError("input.time", {}) },
);

/** Schema of a time in a query, where every value is text. */
export const queryTimeSchema = z.preprocess(
  (value) => (typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value),
  timeSchema,
);

/** Schema of a limit: a number, null for no limit, or `default` to use the default limit. */
const limitSchema = z
  .union([z.int().min(0), z.null(), z.literal("default")], {
    error: inputError("input.limit", {}),
  })
  .optional();

export const limitsSchema = z.strictObject({
  requestsPerMinute: limitSchema,
  tokensPerMinute: limitSchema,
  imagesPerMinute: limitSchema,
  concurrentImages: limitSchema,
  queuedJobs: limitSchema,
  runningJobs: limitSchema,
});

/** Returns an object's own limits after a change. Limits that the change does not contain stay unchanged. */
export function changeLimits<Own extends object>(own: Own, change: z.output<typeof limitsSchema>): Own {
  const merged = Object.entries({ ...own, ...change });
  return Object.fromEntries(merged.filter(([, value]) => value !== "default" && value !== undefined)) as Own;
}

/** Schema of an amount: a decimal string, which becomes nano-units. Signs, exponents and JSON numbers are refused. */
export const amountSchema = z
  .string({
    error: inputError((input: unknown) => (input === undefined ? "input.absent" : "input.amount"), {}),
  })
  .regex(/^\d{1,9}(\.\d{1,9})?$/, { error: inputError("input.amount", {}) })
  .transform((text): Nanos => parseNanos(text));

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

export const currencySchema = z
  .string()
  .refine((code) => CURRENCIES.has(code), { error: inputError("input.currency", {}) });

/** Schema of the reason for a correction, which the audit records. */
export const reasonSchema = z.string().trim().min(1).max(500);

/** Schema of the reasoning setting of a route's target. */
export const targetReasoningSchema = z
  .enum(TARGET_REASONING)
  .optional()
  .describe(
    "Form in which the target receives reasoning settings of callers of another protocol; `none` for not at all, and where absent as its vendor and model take them",
  );
