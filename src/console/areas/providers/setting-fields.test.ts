import { expect, test } from "bun:test";
import { z } from "zod";
import { settingFields, settingsOf, writtenSetting, type SettingSchema } from "./setting-fields.ts";

const SCHEMA = z.toJSONSchema(
  z.object({
    organization: z.string().optional().describe("Sent with every call"),
    fanOut: z.boolean().default(false),
    pollIntervalMs: z.int().default(500),
    responses: z.union([z.boolean(), z.literal("only")]).optional(),
    surface: z.enum(["v1", "classic"]),
    audiences: z.array(z.string()).optional(),
    project: z.string().nullable().optional(),
  }),
  { io: "input" },
) as SettingSchema;
const FIELDS = settingFields(SCHEMA);

test("each setting has the field that its type needs, required ones first", () => {
  expect(
    FIELDS.map(({ name, kind, isRequired }) => `${name} ${kind}${isRequired ? " required" : ""}`),
  ).toEqual([
    "surface choice required",
    "organization text",
    "fanOut switch",
    "pollIntervalMs number",
    "responses choice",
    "audiences json",
    "project text",
  ]);
  expect(FIELDS.find(({ name }) => name === "responses")?.choices).toEqual([true, false, "only"]);
  expect(FIELDS.find(({ name }) => name === "organization")?.help).toBe("Sent with every call");
  expect(FIELDS.find(({ name }) => name === "pollIntervalMs")?.fallback).toBe(500);
});

test("what is written becomes values of the settings' types, and empty fields are absent", () => {
  const written = {
    surface: "v1",
    organization: "  ",
    fanOut: "true",
    pollIntervalMs: "250",
    responses: "false",
    audiences: '["one"]',
  };
  expect(settingsOf(FIELDS, written)).toEqual({
    surface: "v1",
    fanOut: true,
    pollIntervalMs: 250,
    responses: false,
    audiences: ["one"],
  });
});

test("a setting is written as it is read", () => {
  const values: Record<string, unknown> = { surface: "classic", fanOut: false, audiences: ["a", "b"] };
  const written = Object.fromEntries(
    FIELDS.map((field) => [field.name, writtenSetting(field, values[field.name])]),
  );
  expect(settingsOf(FIELDS, written)).toEqual(values);
});
