import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseExactly } from "./exact-json.ts";

test.each(['{"id":12345678901234567890}', "[1.0,1e3,-0,0.10,1E+2]", '{"a":{"b":[9007199254740993,"1.0"]}}'])(
  "%s is written as it was",
  (text) => {
    expect(JSON.stringify(parseExactly(text))).toBe(text);
  },
);

test("every JSON value is written as it was", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const compact = JSON.stringify(JSON.parse(text));
      expect(JSON.stringify(parseExactly(compact))).toBe(compact);
    }),
  );
});

test("what is not JSON throws", () => {
  expect(() => parseExactly('{"a":1.0')).toThrow(SyntaxError);
});
