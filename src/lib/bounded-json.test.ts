import { expect, test } from "bun:test";
import { JSON_BOUNDS, JsonBoundError, parseBounded } from "./bounded-json.ts";

const { depth, values, names } = JSON_BOUNDS;
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const listOf = (count: number) => `[${"0,".repeat(count - 1)}0]`;
const named = (count: number, name: (index: number) => string) =>
  `{${Array.from({ length: count }, (_, index) => `"${name(index)}":0`).join(",")}}`;

test.each<[string, string, string]>([
  ["levels", nested(depth), nested(depth + 1)],
  ["values", listOf(values), listOf(values + 1)],
  ["names", named(names, (index) => `n${index}`), named(names + 1, (index) => `n${index}`)],
])("%s are taken up to their bound and no further", (_, most, more) => {
  expect(parseBounded(most)).toEqual(JSON.parse(most));
  expect(() => parseBounded(more)).toThrow(JsonBoundError);
});

test("names of log probabilities do not count", () => {
  expect(parseBounded(named(names + 1, () => "logprob"))).toEqual({ logprob: 0 });
});

test("text of any length is taken", () => {
  const text = JSON.stringify({ text: "[{,:".repeat(500_000) });
  expect(parseBounded(text)).toEqual(JSON.parse(text));
});
