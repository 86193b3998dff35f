import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseAroundObjects, parseExactly } from "./exact-json.ts";

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
