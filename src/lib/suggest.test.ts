import { expect, test } from "bun:test";
import { didYouMean, editDistance, suggest } from "./suggest.ts";

test("the distance counts insertions, omissions, replacements and swaps as one each", () => {
  expect(editDistance("port", "port")).toBe(0);
  expect(editDistance("prt", "port")).toBe(1);
  expect(editDistance("ports", "port")).toBe(1);
  expect(editDistance("pert", "port")).toBe(1);
  expect(editDistance("openia", "openai")).toBe(1);
  expect(editDistance("", "abc")).toBe(3);
});

test("the nearest candidate is suggested and a far one is not", () => {
  expect(suggest("publc_url", ["host", "public_url", "port"])).toBe("public_url");
  expect(suggest("Host", ["host", "port"])).toBe("host");
  expect(suggest("telephone", ["host", "port"])).toBeUndefined();
  expect(suggest("x", ["y"])).toBeUndefined();
});

test("the tail of a message is empty when nothing is near", () => {
  expect(didYouMean("prt", ["port"])).toBe('; did you mean "port"?');
  expect(didYouMean("prt", [])).toBe("");
});

test("a word that is too long to be mistyped takes no time", () => {
  const startedAt = performance.now();
  const candidates = Array.from({ length: 20 }, (_, index) => `sandbox-chat-${index}`);
  expect(suggest("x".repeat(4_000_000), candidates)).toBeUndefined();
  expect(suggest("sandbox-cha", ["x".repeat(4_000_000), "sandbox-chat"])).toBe("sandbox-chat");
  // Without a limit on the length, comparing these words would take seconds.
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
