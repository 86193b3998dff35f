import { expect, test } from "bun:test";
import { configurationJsonSchema, JSON_SCHEMA_PATH } from "./json-schema.ts";

test("the schema for editors is up to date: run `bun src/config/json-schema.ts` when this fails", async () => {
  expect(await Bun.file(JSON_SCHEMA_PATH).json()).toEqual(JSON.parse(configurationJsonSchema()));
});

test("the schema names every section and refuses unknown ones", () => {
  const schema = JSON.parse(configurationJsonSchema());
  expect(schema.additionalProperties).toBe(false);
  expect(Object.keys(schema.properties)).toEqual(
    expect.arrayContaining(["server", "channels", "models", "limits"]),
  );
});
