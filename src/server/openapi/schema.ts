import { z, type ZodType } from "zod";

export type Schema = z.core.JSONSchema.BaseSchema;

/** Returns a schema as JSON Schema 2020-12, for a request (`input`) or a response (`output`). */
export function jsonSchema(schema: ZodType, io: "input" | "output"): Schema {
  const { $schema: _dialect, ...written } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override({ zodSchema, jsonSchema: made }) {
      // In responses, the times and amounts of records are texts.
      if (io === "output" && zodSchema instanceof z.ZodCodec) {
        const { $schema: _, ...shown } = z.toJSONSchema(zodSchema.in, { io: "input" });
        Object.assign(made, { type: undefined }, shown);
      }
      // `readOnly` comes from read-only arrays in the code and says nothing to callers.
      delete made.readOnly;
      // A query value that may be a text or a number is published as a number.
      if (made.type !== undefined) delete made.anyOf;
    },
  });
  return written;
}

/** Separates the field that is a part of the path (`pathField`) from the query parameters or body fields. */
export function splitFields(schema: Schema, pathField: string | null) {
  const { properties = {}, required = [], ...others } = schema;
  const { [pathField ?? ""]: inPath, ...rest } = properties;
  const remaining = required.filter((name) => name !== pathField);
  return {
    inPath: inPath ?? { type: "string" },
    rest,
    required: remaining,
    object: { ...others, properties: rest, ...(remaining.length > 0 && { required: remaining }) },
  };
}
