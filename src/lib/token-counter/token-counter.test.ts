import { afterAll, beforeAll, expect, test } from "bun:test";
import { MAX_COUNTED_UNITS, TokenCounter } from "./index.ts";

let counter: TokenCounter;
beforeAll(async () => {
  counter = new TokenCounter({ maxMs: 30_000 });
  await counter.count("loaded");
});
afterAll(() => counter.close());

// The counts of the word, the sum and the Japanese text are from OpenAI's cookbook, "How to count tokens with
// tiktoken".
test.each([
  ["", 0],
  ["antidisestablishmentarianism", 6],
  ["2 + 2 = 4", 7],
  ["お誕生日おめでとう", 8],
  ["<|endoftext|>", 7],
])("%p has %d tokens", async (text, tokens) => {
  expect(await counter.count(text)).toBe(tokens);
});

test("the event loop runs on while the longest text is counted", async () => {
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 1);
  const words = "the harbour lies calm under a grey sky ".repeat(MAX_COUNTED_UNITS / 39);
  expect(await counter.count(words)).toBeWithin(50_000, 60_000);
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(1);
});

test("a text without spaces takes no time that grows with the square of its length", async () => {
  // An algorithm with quadratic time would take minutes.
  expect(await counter.count("蘸".repeat(100_000))).toBeGreaterThan(100_000);
});

test("a text that is too long, or comes after the end, is not counted", async () => {
  expect(await counter.count("a".repeat(MAX_COUNTED_UNITS + 1))).toBeNull();
  const closing = new TokenCounter();
  const waiting = closing.count("never counted");
  closing.close();
  expect(await waiting).toBeNull();
  expect(await closing.count("neither")).toBeNull();
});
