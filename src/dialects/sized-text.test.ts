import { expect, test } from "bun:test";
import { SizedText, WholeText } from "./stream-meter.ts";
import { tokenEighths, wholeTokens } from "./input-size.ts";

const TEXT = "Grüße aus dem Hafen, 世界 🌍. ".repeat(20);

test("pieces have the size and the text of the whole, as strings and as bytes", () => {
  const whole = new SizedText();
  whole.add(TEXT);
  const pieces = new SizedText();
  for (const [index, piece] of [...TEXT].entries()) {
    if (index % 2 === 0) pieces.add(piece);
    else pieces.addUtf8(Buffer.from(`<${piece}>`), 1, 1 + Buffer.byteLength(piece), piece.length);
  }
  for (const sized of [whole, pieces]) {
    expect([sized.text, sized.eighths, sized.share]).toEqual([TEXT, tokenEighths(TEXT), 1]);
  }
});

test("of a long text the beginning is kept, with its share of the whole", () => {
  const sized = new SizedText();
  for (let round = 0; round < 100; round += 1) sized.add("word ".repeat(200));
  expect(sized.text.length).toBe(32 * 1024);
  expect(sized.share).toBeCloseTo((32 * 1024) / 100_000, 5);
  const whole = new SizedText();
  whole.add("word ".repeat(20_000));
  expect([whole.text, whole.share]).toEqual([sized.text, sized.share]);
});

test("media count beside the text", () => {
  const sized = new SizedText();
  sized.addTokens(1_290);
  sized.add("four");
  expect([sized.tokens, sized.otherTokens, sized.text]).toEqual([1_291, 1_290, "four"]);
});

test("a whole reply is read once to be sized, and once more to be counted", () => {
  let readings = 0;
  const whole = new WholeText((sized) => {
    readings += 1;
    sized.add(TEXT);
    sized.addTokens(10);
  });
  expect([whole.tokens, readings]).toEqual([wholeTokens(tokenEighths(TEXT) + 80), 1]);
  expect([whole.text, whole.share, whole.otherTokens, readings]).toEqual([TEXT, 1, 10, 2]);
});
