import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseAroundObjects, parseExactly, JSON_BOUNDS, JsonBoundError, parseBounded } from "./parse-json.ts";

test.each([
  '{"id":12345678901234567890}',
  "[1.0,1e3,-0,0.10,1E+2,-0.0,0.0000001,1.2345678901234567,-0]",
  '{"a":{"b":[9007199254740993,"1.0"]}}',
])("%s is written as it was", (text) => {
  expect(JSON.stringify(parseExactly(text))).toBe(text);
});

test("every JSON value is written as it was", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const compact = JSON.stringify(JSON.parse(text));
      expect(JSON.stringify(parseExactly(compact))).toBe(compact);
    }),
  );
});

test("objects of some names are read as their text", () => {
  const args = '{ "a": 12345678901234567890, "args": {"}": "\\"{"}, "list": [1.0] }';
  const text = `{"call" : {"\\u0061rgs" : ${args} ,"name":"args"}, "args":[{"args":{}}, 1]}`;
  expect(parseAroundObjects(text, new Set(["args"]))).toEqual({
    call: { args: { text: args }, name: "args" },
    args: [{ args: { text: "{}" } }, 1],
  });
});

test("every JSON value is read as it is around none", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseAroundObjects(text, new Set())).toEqual(JSON.parse(text));
    }),
  );
});

test("a text that is not JSON throws", () => {
  expect(() => parseExactly('{"a":1.0')).toThrow(SyntaxError);
});

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
