import { describe, expect, test } from "bun:test";
import { createSandboxTextUpstreams } from "./send.ts";

async function send(body: object): Promise<void> {
  const [chat] = createSandboxTextUpstreams({});
  const raw = JSON.stringify({ model: "sandbox-chat", ...body });
  const { signal } = new AbortController();
  const call = { raw, upstreamModel: "sandbox-chat", headers: {}, isStream: false, signal };
  expect((await chat!.send(call)).kind).toBe("whole");
}

describe("the time of a reply", () => {
  const userMessage = (content: string) => ({ messages: [{ role: "user", content }] });
  const schemaOf = (schema: object) => ({
    ...userMessage("Go"),
    response_format: { type: "json_schema", json_schema: { name: "x", schema } },
  });
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
  const property = { type: "object", properties: { x: { type: "string" } }, required: ["x"] };

  test.each<[string, (size: number) => object]>([
    ["spaces after a number", (size) => userMessage(`1${" ".repeat(size)}x`)],
    ["digits and commas", (size) => userMessage("1,111".repeat(size / 5))],
    ["a long enum", (size) => schemaOf({ type: "string", enum: numbers(size / 6) })],
    ["many enums", (size) => schemaOf({ allOf: numbers(size / 20).map((value) => ({ enum: [value] })) })],
    ["many parts of allOf", (size) => schemaOf({ allOf: numbers(size / 80).map(() => property) })],
    [
      "nested allOf",
      (size) => schemaOf(numbers(size / 12).reduce<object>((inner) => ({ allOf: [inner] }), {})),
    ],
    [
      "nested anyOf",
      (size) => schemaOf(numbers(size / 12).reduce<object>((inner) => ({ anyOf: [inner] }), {})),
    ],
    ["branches that never fit", (size) => schemaOf({ anyOf: numbers(size / 6).map(() => false) })],
    [
      "many types",
      (size) => schemaOf({ allOf: [0, 1].map(() => ({ type: numbers(size / 12).map(String) })) }),
    ],
    [
      "a large constant in many items",
      (size) => schemaOf({ type: "array", minItems: 256, items: { const: "x".repeat(size) } }),
    ],
    [
      "one schema for many choices",
      (size) => ({
        ...schemaOf({ type: "object", properties: { a: { enum: numbers(size / 6) } } }),
        n: 128,
      }),
    ],
    [
      "references in a ring",
      (size) => {
        const names = numbers(size / 20);
        const next = (name: number) => ({ anyOf: [{ $ref: `#/$defs/${(name + 1) % names.length}` }, {}] });
        return schemaOf({ ...next(-1), $defs: Object.fromEntries(names.map((name) => [name, next(name)])) });
      },
    ],
  ])("grows with the size of the request only: %s", async (_name, bodyOf) => {
    const [small, medium, large] = [bodyOf(1_000), bodyOf(10_000), bodyOf(100_000)];
    const measure = async (body: object) => {
      const startedAt = performance.now();
      await send(body);
      return performance.now() - startedAt;
    };
    const isLinear = async () => {
      const [smallMs, mediumMs, largeMs] = [
        await measure(small),
        await measure(medium),
        await measure(large),
      ];
      return (mediumMs < 50 || mediumMs < 30 * smallMs) && (largeMs < 50 || largeMs < 30 * mediumMs);
    };
    expect((await isLinear()) || (await isLinear()) || (await isLinear())).toBe(true);
  });
});
