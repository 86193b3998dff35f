import { expect, test } from "bun:test";
import { z } from "zod";
import { operatorMessage } from "./operator-message.ts";
import { formatPath, inputError, inputIssue, knownKeys, readStrictly } from "./schema-problems.ts";

const SCHEMA = z.strictObject({
  port: z.int().min(1).max(9),
  name: z.string().min(2).optional(),
  mode: z.enum(["fast", "slow"]).optional(),
  credential: z.strictObject({ env: z.string() }).optional(),
  entries: z
    .record(z.string(), z.strictObject({ weight: z.number(), tags: z.array(z.string()).max(1).optional() }))
    .optional(),
});

function problems(input: unknown): string[] {
  const result = readStrictly(SCHEMA, input, { noun: "setting", synonyms: { api_key: "credential" } });
  return "problems" in result ? result.problems.map(({ path, message }) => `${path}: ${message}`) : [];
}

test("valid input gives the output of the schema", () => {
  expect(readStrictly(SCHEMA, { port: 3 })).toEqual({ value: { port: 3 } });
});

test("all problems are reported at once, with path and what to change", () => {
  const input = {
    port: "3",
    name: "x",
    mode: "fat",
    prt: 1,
    api_key: "sk-literal",
    entries: { "a.b": { weigth: 1, tags: ["x", "y"] } },
  };
  expect(problems(input)).toEqual([
    "port: must be a number, not text",
    "name: must have at least 2 characters",
    'mode: must be "fast" or "slow"',
    'entries["a.b"].weight: is missing: it must be a number',
    'entries["a.b"].tags: must have at most 1 entry',
    'entries["a.b"].weigth: is not a known setting; did you mean "weight"?',
    'prt: is not a known setting; did you mean "port"?',
    'api_key: is not a known setting; did you mean "credential"?',
  ]);
});

test("bounds and types are described in plain words", () => {
  expect(problems({ port: 0 })).toEqual(["port: must be at least 1"]);
  expect(problems({ port: 10 })).toEqual(["port: must be at most 9"]);
  expect(problems({ port: 1.5 })).toEqual(["port: must be a whole number, not a fraction"]);
  expect(problems({ port: null })).toEqual(["port: must be a number, not empty"]);
  expect(problems([])).toEqual([": must be a mapping, not a list"]);
});

test("a problem has the code and the figures of its message, also within a union or as the name of a field", () => {
  const schema = z.strictObject({
    names: z.record(z.string().max(2), z.int().min(0)),
    mode: z.union([z.literal("all"), z.array(z.string())], {
      error: inputError("input.models", { most: 7 }),
    }),
    side: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a") }),
      z.object({ kind: z.literal("b") }),
    ]),
    total: z.string().superRefine((_, context) => {
      context.addIssue(inputIssue([], operatorMessage("input.empty", {})));
    }),
  });
  const result = readStrictly(schema, {
    names: { abc: 1, a: -1 },
    mode: 1,
    side: { kind: "c" },
    total: "",
    mod: 1,
  });
  expect(
    "problems" in result && result.problems.map(({ path, code, figures }) => [path, code, figures]),
  ).toEqual([
    ["names.abc", "input.most.characters", { count: 2 }],
    ["names.a", "input.least", { limit: 0 }],
    ["mode", "input.models", { most: 7 }],
    ["side.kind", "input.values", { values: '"a", "b"' }],
    ["total", "input.empty", {}],
    ["mod", "input.unknown", { noun: "field", meant: "mode" }],
  ]);
});

test("a value never appears in a message", () => {
  expect(problems({ port: "sk-very-secret", credential: "sk-very-secret" }).join()).not.toContain("sk-very");
});

test("the keys a schema knows are found through records and optional parts", () => {
  expect(knownKeys(SCHEMA)).toContain("port");
  expect(knownKeys(SCHEMA, ["entries", "any"])).toEqual(["weight", "tags"]);
  expect(knownKeys(SCHEMA, ["nothing"])).toEqual([]);
});

test("a path quotes what is not a plain word", () => {
  expect(formatPath(["models", "gpt-4.1", "sizes", "16:9", 2, "x"])).toBe(
    'models["gpt-4.1"].sizes["16:9"][2].x',
  );
});

test("no more than a hundred problems are reported, however many there are", () => {
  const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`unknown${index}`, 1]));
  expect(problems({ port: 3, ...unknown })).toHaveLength(100);
  const entries = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`e${index}`, {}]));
  expect(problems({ port: 3, entries })).toHaveLength(100);
});
