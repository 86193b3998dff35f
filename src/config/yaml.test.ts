import { expect, test } from "bun:test";
import fc from "fast-check";
import { OPENAI_CATALOGUE, SANDBOX_CATALOGUE } from "../../test/support/config-fixture.ts";
import { readYaml } from "./yaml.ts";

/** Returns each duplicate key as `key first-line line:column`. */
function duplicates(text: string): string[] {
  return readYaml(text).problems.map(({ line, column, message }) => {
    const [, key, first] = /^names "(.*)" again after line (\d+)/.exec(message) ?? [];
    return `${key} ${first} ${line}:${column}`;
  });
}

test.each([
  ["of the file", "a: 1\nb: 2\na: 3\n", ["a 1 3:1"]],
  ["of an inner mapping", "x:\n  a: 1\n\n  # a\n  a: 2\ny:\n  a: 3\n", ["a 2 5:3"]],
  ["in braces", "x: {a: 1, a: 2}\n", ["a 1 1:11"]],
  ["in braces of several lines", "x: {\n  a: 1,\n  a: 2\n}\nx: 1\n", ["a 2 3:3", "x 1 5:1"]],
  ["as an explicit key", "? a\n: 1\na: 2\n? a\n", ["a 1 3:1", "a 1 4:3"]],
  ["of a list's item", "x:\n- a: 1\n  b: 1\n  a: 2\n- a: 1\n", ["a 2 4:3"]],
  ["in quotes and without", "'it''s': 1\n\"it's\": 2\n1K: 1\n\"1K\" : 2\n", ["it's 1 2:1", "1K 3 4:1"]],
  ["with an anchor or a tag", "a: &x\n  k: 1\n  k: 2\nb: !!map\n  k: 1\n&y a: 1\n", ["k 2 3:3", "a 1 6:4"]],
  ["through an alias", "k: &x foo\nfoo: 1\n*x : 2\n", ["foo 2 3:1"]],
  ["three times", "a: 1\na: 2\na: 3\n", ["a 1 2:1", "a 1 3:1"]],
  ["with Windows line ends", "a: 1\r\nx:\r\n  b: 1\r\n  b: 2\r\na: 1\r\n", ["b 3 4:3", "a 1 5:1"]],
  ["after the start of a document", "\uFEFF%YAML 1.2\n--- # first\na: 1\na: 2\n...\n", ["a 3 4:1"]],
])("a duplicate key is reported with line and column: %s", (_, text, expected) => {
  expect(duplicates(text)).toEqual(expected);
});

test.each([
  ["a literal text", "a: |-\n  k: 1\n\n  k: 2\n"],
  ["a quoted text", "a: 'k: 1\n\n  k: 2'\n"],
  ["a comment", "a: 1\n# a: 2\nb: 1 # a: 3\n"],
  ["separate mappings", "x:\n  - k: 1\n  - k: 1\ny: {x: {k: 1}, y: {k: 1}}\n"],
  ["merged mappings", "x: &p {a: 1}\ny: &q {b: 1}\nz:\n  <<: *p\n  <<: *q\n  a: 2\n"],
])("%s is no duplicate key", (_, text) => {
  expect(duplicates(text)).toEqual([]);
});

test("a merged mapping fills in what a mapping does not name", () => {
  expect(readYaml("p: &p {a: 1, b: 1}\nz: {<<: *p, a: 2}\n").value).toMatchObject({ z: { a: 2, b: 1 } });
});

test.each([
  ["an open bracket", "a: 1\nb: [\n", 3],
  ["a tab", "a:\n\tb: 1\n", 2],
  ["an unknown tag", "a: 1\nb: !secret x\n", 2],
  ["an unknown alias", "a: *nobody\n", 1],
  ["a second document", "a: 1\n---\nb: 1\n", 2],
])("a text with %s is not YAML, and the line is named", (_, text, line) => {
  const { value, problems } = readYaml(text);
  expect(value).toBeUndefined();
  expect(problems[0]).toMatchObject({ line, message: expect.stringMatching(/^is not YAML: /) });
});

test("aliases that multiply are refused", () => {
  const levels = Array.from(
    { length: 9 },
    (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]`,
  );
  const { value, problems } = readYaml(`l0: &l0 x\n${levels.join("\n")}\n`);
  expect(value).toBeUndefined();
  expect(problems).toHaveLength(1);
});

test("the shipped catalogue, the example and the tests' files read as they always did", async () => {
  const root = `${import.meta.dir}/../..`;
  const names = await Array.fromAsync(new Bun.Glob("*.yaml").scan({ cwd: `${root}/catalogue` }));
  expect(names).toContain("sandbox.yaml");
  const paths = [...names.map((name) => `catalogue/${name}`), "gateway.example.yaml"];
  const shipped = await Promise.all(paths.map((path) => Bun.file(`${root}/${path}`).text()));
  for (const text of [...shipped, SANDBOX_CATALOGUE, OPENAI_CATALOGUE])
    expect(readYaml(text)).toEqual({ value: Bun.YAML.parse(text), problems: [] });
});

test("whatever text comes, it is a value or a problem and never an exception", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void readYaml(text)));
});
