import { expect, test } from "bun:test";
import { eighthsOf, tokenEighths, wholeTokens } from "./input-size.ts";

test.each([
  ["", 0],
  ["a", 1],
  ["four", 1],
  ["fives", 2],
  ["世界", 2],
  ["Grüße", 2],
  ["Привет, мир", 7],
  ["🌍🌍🌍🌍", 5],
])("%p is estimated at %d tokens", (text, tokens) => {
  expect(wholeTokens(tokenEighths(text))).toBe(tokens);
  expect(tokenEighths(text)).toBe(eighthsOf(Buffer.byteLength(text), text.length));
});
