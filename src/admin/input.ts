import { z, type ZodType } from "zod";
import { parseNanos, type Nanos } from "../lib/money.ts";
import { isPlainName, NOT_PLAIN } from "../lib/plain-name.ts";
import { formatPath, readStrictly } from "../lib/schema-problems.ts";
import { TARGET_REASONING } from "../domain/model.ts";
import { AdminError } from "./admin-error.ts";

/** Input from outside as the schema's output. Throws an `AdminError` that names every wrong or unknown field. */
export function readInput<Schema extends ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = readStrictly(schema, input);
  if ("value" in result) {
    const field = fieldWithNul(result.value);
    if (field !== null) throw new AdminError(400, field, `${field} must be text without the character NUL`);
    return result.value;
  }
  const lines = result.problems.map(({ path, message }) =>
    path === "" ? `it ${message}` : `${path} ${message}`,
  );
  throw new AdminError(400, result.problems[0]?.path || null, lines.join("; "));
}

/** Returns the path of a text with a NUL, which PostgreSQL refuses; null where there is none. */
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

/** Name of anything that people name. */
export const nameSchema = z.string().trim().min(1).max(100).refine(isPlainName, { error: NOT_PLAIN });

/** Longest list that one record has: every process keeps them in memory, and requests are compared with them. */
export const MAX_LISTED = 1000;

/** Ids of models, and patterns that cover some. */
export const modelListSchema = z.array(z.string().max(256)).max(MAX_LISTED);

/** The revision that a change was made from; another one is a conflict. */
export const versionSchema = z.int().min(0).optional();

/** Refuses a change that was made from an earlier state than the present one. */
export function requireVersion(before: { version: number }, version: number | undefined): void {
  if (version === undefined || version === before.version) return;
  throw new AdminError(
    409,
    "version",
    `it has changed since version ${version}: read it again and repeat the change`,
  );
}

/** `true` and `false`, also as the text of a query. */
export const flagSchema = z
  .union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")], {
    error: "must be true or false",
  })
  .meta({ type: "boolean" });

/** A time: ISO 8601 with a zone, or Unix milliseconds; read as Unix milliseconds. */
export const timeSchema = z.union(
  [z.int().min(0), z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))],
  { error: "must be a time such as 2026-01-31T00:00:00Z" },
);

/** The same time in a query, where every value is text. */
export const queryTimeSchema = z.preprocess(
  (value) => (typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value),
  timeSchema,
);

/** A limit's number, null to lift it, or `default` to have none of one's own. */
const limitSchema = z
  .union([z.int().min(0), z.null(), z.literal("default")], {
    error: 'must be a whole number from 0, null to lift the limit, or "default"',
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

/** Returns an object's own limits after a change. Limits that the change does not name stay. */
export function changeLimits<Own extends object>(own: Own, change: z.output<typeof limitsSchema>): Own {
  const merged = Object.entries({ ...own, ...change });
  return Object.fromEntries(merged.filter(([, value]) => value !== "default" && value !== undefined)) as Own;
}

const NOT_AN_AMOUNT = 'must be a decimal of at most nine digits and nine places as text, such as "12.50"';

/** A decimal string as nano-units; signs, exponents and numbers are refused. */
export const amountSchema = z
  .string({ error: ({ input }) => (input === undefined ? "is missing" : NOT_AN_AMOUNT) })
  .regex(/^\d{1,9}(\.\d{1,9})?$/, { error: NOT_AN_AMOUNT })
  .transform((text): Nanos => parseNanos(text));

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

export const currencySchema = z
  .string()
  .refine((code) => CURRENCIES.has(code), { error: "must be an ISO 4217 code such as USD" });

/** The reason for a correction; kept in the audit. */
export const reasonSchema = z.string().trim().min(1).max(500);

/** Of a target of a route. */
export const targetReasoningSchema = z
  .enum(TARGET_REASONING)
  .optional()
  .describe(
    "Form in which the target receives reasoning settings of callers of another protocol; `none` for not at all, and where absent as its vendor and model take them",
  );
