import { expect, test } from "bun:test";
import fc from "fast-check";
import { countTokens, splitTokens } from "./tokens.ts";

test("words are cut into pieces of four, marks and CJK characters stand alone", () => {
  expect(splitTokens("Hello, brave world!")).toEqual(["Hell", "o", ",", " brav", "e", " worl", "d", "!"]);
  expect(splitTokens("写50字 ok\n\n  x")).toEqual(["写", "50", "字", " ok", "\n\n  ", "x"]);
});

test("tokens joined are the text again, and are as many as counted", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
      const tokens = splitTokens(text);
      expect(tokens.join("")).toBe(text);
      expect(countTokens(text)).toBe(tokens.length);
      expect(tokens.every((token) => token.isWellFormed())).toBe(true);
    }),
  );
});
