import { z } from "zod";
import { fileSchema } from "./file-schema.ts";

/** Returns the JSON Schema of the configuration file for editors. Running this file writes `JSON_SCHEMA_PATH`. */
export function configurationJsonSchema(): string {
  const schema = z.toJSONSchema(fileSchema, { io: "input" });
  return `${JSON.stringify({ ...schema, title: "Model inference gateway configuration" }, null, 2)}\n`;
}

/** Path of the generated schema. */
export const JSON_SCHEMA_PATH = `${import.meta.dir}/../../docs/gateway.schema.json`;

if (import.meta.main) {
  await Bun.write(JSON_SCHEMA_PATH, configurationJsonSchema());
  await Bun.$`${process.execPath} fmt ${JSON_SCHEMA_PATH}`.quiet();
}
