import { z, type ZodType } from "zod";

export type Schema = z.core.JSONSchema.BaseSchema;

/** Returns a schema as JSON Schema 2020-12: of a request (`input`) or of a response (`output`). */
export function jsonSchema(schema: ZodType, io: "input" | "output"): Schema {
  const { $schema: _dialect, ...written } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override({ zodSchema, jsonSchema: made }) {
      // A response has records' times and amounts as texts.
      if (io === "output" && zodSchema instanceof z.ZodCodec) {
        const { $schema: _, ...shown } = z.toJSONSchema(zodSchema.in, { io: "input" });
        Object.assign(made, { type: undefined }, shown);
      }
      // Read-only arrays are a matter of the code alone.
      delete made.readOnly;
      // A query's value that is text or a number is published as the number.
      if (made.type !== undefined) delete made.anyOf;
    },
  });
  return written;
}

/** The fields of an object: a path's part, and the rest as parameters of the query or as an object of its own. */
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
