import { z } from "zod";

/** A number of tokens or pictures, or an index. */
export const count = z.int().min(0);

/** A time in seconds, not milliseconds. */
export const seconds = z.int().min(1_000_000_000).max(9_999_999_999);

/** A field that the published types omit and that vendors also send as null. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value): z.output<Schema> | undefined => value ?? undefined);
}

/**
 * An object with a `type`. For known types, the schema applies; other types may have any fields. `Published` is the
 * union of all known types.
 */
export function byType<Published>(
  known: Readonly<Record<string, z.ZodType<Published>>>,
): z.ZodType<Published> {
  return z.looseObject({ type: z.string() }).transform((value, context): Published => {
    const checked = known[value.type]?.safeParse(value);
    if (checked === undefined) return value as Published;
    if (checked.success) return checked.data;
    for (const { path, message } of checked.error.issues)
      context.addIssue({ code: "custom", path, message: `${value.type}: ${message}` });
    return z.NEVER;
  });
}
