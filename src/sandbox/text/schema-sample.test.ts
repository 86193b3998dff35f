import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { z } from "zod";
import { sampleSchema } from "./schema-sample.ts";

/** Checks the value with a validator that shares no code with the sample. */
function judge(schema: unknown, value: unknown): boolean {
  return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value).success;
}

const scalar = fc.oneof(
  fc.constant({ type: "boolean" }),
  fc.constant({ type: "null" }),
  fc.record({
    type: fc.constant("string"),
    minLength: fc.integer({ min: 0, max: 20 }),
    maxLength: fc.integer({ min: 20, max: 40 }),
  }),
  fc.record({
    type: fc.constant("string"),
    format: fc.constantFrom("date", "date-time", "email", "uri", "uuid", "ipv4", "ipv6"),
  }),
  fc.tuple(fc.integer({ min: -50, max: 50 }), fc.nat(20)).map(([minimum, span]) => ({
    type: "integer",
    minimum,
    maximum: minimum + span,
  })),
  fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 1, max: 20 })).map(([low, span]) => ({
    type: "number",
    exclusiveMinimum: low,
    exclusiveMaximum: low + span,
  })),
  fc.integer({ min: 1, max: 9 }).map((multipleOf) => ({ type: "integer", minimum: 1, multipleOf })),
  fc
    .uniqueArray(fc.string(), { minLength: 1, maxLength: 4 })
    .map((choices) => ({ type: "string", enum: choices })),
  fc.oneof(fc.string(), fc.integer(), fc.boolean()).map((constant) => ({ const: constant })),
);

const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof({ depthSize: "small" }, scalar, tie("object"), tie("array"), tie("choice"), tie("both")),
  object: fc
    .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), tie("schema"), { maxKeys: 4 })
    .chain((properties) =>
      fc.subarray(Object.keys(properties)).map((required) => ({
        type: "object",
        properties,
        required,
        additionalProperties: false,
      })),
    ),
  array: fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(4) }),
  choice: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  both: fc.tuple(tie("schema"), tie("schema")).map(([one, other]) => ({
    allOf: [
      { type: "object", properties: { one }, required: ["one"] },
      { type: "object", properties: { other }, required: ["other"] },
    ],
  })),
}));

describe("a sampled value", () => {
  test("fits the schema it was made from", () => {
    fc.assert(
      fc.property(schema, (generated) => {
        const value = sampleSchema(generated, "otters");
        expect(judge(generated, value)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("follows references and ends in schemas that contain themselves", () => {
    const node = {
      type: "object",
      properties: {
        value: { type: "integer" },
        next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] },
      },
      required: ["value", "next"],
    };
    const list = { $ref: "#/$defs/node", $defs: { node } };
    const value = sampleSchema(list, "otters");
    expect(judge(list, value)).toBe(true);
    expect(JSON.stringify(value)).toEndWith('"next":null}'.padEnd(13, "}"));
    const tree = {
      type: "object",
      properties: { kids: { type: "array", items: { $ref: "#" } } },
      required: ["kids"],
    };
    expect(judge(tree, sampleSchema(tree, "otters"))).toBe(true);
  });

  test("takes constants, choices, defaults and examples that fit", () => {
    expect(sampleSchema({ const: null }, "otters")).toBeNull();
    expect(sampleSchema({ type: ["string", "null"], enum: [7, "b"] }, "otters")).toBe("b");
    expect(sampleSchema({ type: "integer", default: 12 }, "otters")).toBe(12);
    expect(sampleSchema({ type: "integer", default: "no", examples: [3] }, "otters")).toBe(3);
    expect(
      sampleSchema({ type: "array", uniqueItems: true, minItems: 3, items: { enum: [1, 2, 3] } }, "x"),
    ).toEqual([1, 2, 3]);
  });

  test("fits exactly one branch of oneOf where one exists", () => {
    const either = { oneOf: [{ type: "string" }, { type: "string", maxLength: 3 }, { type: "integer" }] };
    expect(judge({ type: "integer" }, sampleSchema({ oneOf: either.oneOf.slice(2) }, "otter"))).toBe(true);
    expect(sampleSchema(either, "otter")).toBe("otter");
  });

  test("costs little however the schema is made", () => {
    const bomb = { anyOf: Array.from({ length: 10 }, () => ({ $ref: "#/$defs/a" })) };
    const hostile = { type: "object", required: ["x"], properties: { x: bomb }, $defs: { a: bomb } };
    const huge = { type: "array", minItems: 1e9, items: { type: "string", minLength: 1e9 } };
    const pattern = { type: "string", pattern: "^(a+)+$" };
    const startedAt = performance.now();
    for (const one of [hostile, huge, pattern, { $ref: "#" }, { $ref: "#/%zz" }, { allOf: [{ $ref: "#" }] }])
      expect(JSON.stringify(sampleSchema(one, "otters"))).toBeString();
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });

  test("keeps names such as __proto__ as plain properties", () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"const":1}},"required":["__proto__"]}',
    );
    expect(JSON.stringify(sampleSchema(schema, "x"))).toBe('{"__proto__":1}');
  });
});
