import { expect, test } from "bun:test";
import { isPlainName } from "./plain-name.ts";

test.each([
  "Ada",
  "Größe 1",
  "名前",
  "שָׁלוֹם",
  "คนที่",
  "မျှော့",
  "རྒྱུ",
  "한국어",
  "ខ្មែរ",
  "👩‍👩‍👧 family",
  "👩🏽‍🚀",
  "🏳️‍🌈",
  "I ❤️ 1️⃣",
  "🇳🇴",
  "é",
  "e\u0301",
])("%p is a name", (name) => {
  expect(isPlainName(name)).toBe(true);
});

test.each([
  ["zero-width spaces", "\u200b\u200b"],
  ["a direction override", "\u202egk_evil"],
  ["a direction isolate", "a\u2066b"],
  ["a soft hyphen", "a\u00adb"],
  ["a byte order mark", "\ufeffa"],
  ["a line break", "a\nb"],
  ["a line separator", "a\u2028b"],
  ["a delete character", "a\u007fb"],
  ["a joiner between letters", "a\u200db"],
  ["a joiner at the end of a picture", "👩\u200d"],
  ["half of a character", "a\ud800"],
  ["the other half", "\udc00a"],
  ["tags", "a\u{e0041}"],
  ["a grapheme joiner alone", "\u034f"],
  ["a grapheme joiner", "a\u034fb"],
  ["a half-width Hangul filler alone", "\uffa0"],
  ["a Hangul filler", "a\u3164b"],
  ["a Hangul filler for a first letter", "\u115fa"],
  ["an invisible Khmer vowel alone", "\u17b4"],
  ["blank Braille", "a\u2800b"],
  ["a blank note", "\u{1d159}"],
  ["a Khitan filler", "\u{16fe4}"],
  ["a variation selector after a letter", "a\ufe0fb"],
  ["a variation selector alone", "\ufe0f"],
  ["a variation selector that changes nothing", "😀\ufe0f"],
  ["two variation selectors", "❤\ufe0f\ufe0f"],
  ["the selector of a keycap without one", "1\ufe0f"],
  ["a variation selector before a joiner", "a\ufe0f\u200d👩"],
  ["two joiners", "👩\u200d\u200d👧"],
  ["a selector of ideographs", "葛\u{e0100}"],
  ["a Mongolian variation selector", "a\u180b"],
  ["a code point that is to be ignored", "a\u2065"],
  ["five marks on a letter", `a${"\u0301".repeat(5)}`],
  ["a pile of marks", `a${"\u0489\u0301".repeat(20)}`],
  ["a mark without a letter", "\u0301a"],
])("%s is none", (_what, name) => {
  expect(isPlainName(name)).toBe(false);
});

test("four marks on a letter are the most", () => {
  expect(isPlainName(`a${"\u0301".repeat(4)}`)).toBe(true);
});
