import { expect, test } from "bun:test";
import * as en from "./en/index.ts";
import * as zh from "./zh/index.ts";

const texts = (language: object): [name: string, text: string][] =>
  Object.entries(language).flatMap(([area, named]: [string, Record<string, string>]) =>
    Object.entries(named).map(([name, text]): [string, string] => [`${area}:${name}`, text]),
  );
const placeholdersOf = (text: string): string[] =>
  [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name ?? "").sort();

test("a text has the same placeholders in every language", () => {
  const english = new Map(texts(en));
  const different = texts(zh).filter(
    ([name, text]) => String(placeholdersOf(text)) !== String(placeholdersOf(english.get(name) ?? "")),
  );
  expect(different).toEqual([]);
});

/** Chinese texts without a Chinese character. */
const LATIN = new Set(["Base64", "ID", "PagerDuty", "Slack", "Token", "Webhook", "YAML", "response_format"]);

test("a Chinese text is Chinese", () => {
  const foreign = texts(zh).filter(
    ([, text]) =>
      /[a-z]/i.test(text.replace(/\{\{\w+\}\}/g, "")) && !/\p{Script=Han}/u.test(text) && !LATIN.has(text),
  );
  expect(foreign).toEqual([]);
});

test("a text in the plural has a singular, and the reverse", () => {
  const names = new Set(texts(en).map(([name]) => name));
  const alone = [...names].filter(
    (name) =>
      (name.endsWith("_one") && !names.has(name.replace(/_one$/, "_other"))) ||
      (name.endsWith("_other") && !names.has(name.replace(/_other$/, "_one"))),
  );
  expect(alone).toEqual([]);
});
