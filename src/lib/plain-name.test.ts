import { expect, test } from "bun:test";
import { isPlainName } from "./plain-name.ts";

test.each(["Ada", "Größe 1", "名前", "שם", "👩‍👩‍👧 family", "👩🏽‍🚀", "🏳️‍🌈", "é"])("%p is a name", (name) => {
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
])("%s is none", (_what, name) => {
  expect(isPlainName(name)).toBe(false);
});
