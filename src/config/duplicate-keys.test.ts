import { expect, test } from "bun:test";
import fc from "fast-check";
import { OPENAI_CATALOGUE, SANDBOX_CATALOGUE } from "../../test/support/config-fixture.ts";
import { findDuplicateKeys } from "./duplicate-keys.ts";

/** Each as `key first-line line`. The text has to parse, as the scan relies on it. */
function find(text: string): string[] {
  Bun.YAML.parse(text);
  return findDuplicateKeys(text).map(({ key, firstLine, line }) => `${key} ${firstLine} ${line}`);
}

test.each([
  ["of the file", "a: 1\nb: 2\na: 3\n", ["a 1 3"]],
  ["of an inner mapping", "x:\n  a: 1\n\n  # a\n  a: 2\ny:\n  a: 3\n", ["a 2 5"]],
  ["after deeper lines", "x:\n  p:\n    a: 1\n  q:\n    a: 1\nx:\n  p: 1\n", ["x 1 6"]],
  ["of a list's item", "x:\n- a: 1\n  b: 1\n  a: 2\n- a: 1\n", ["a 2 4"]],
  ["of an item within an item", "- - a: 1\n    a: 2\n  - a: 1\n", ["a 1 2"]],
  ["of an item that begins on the next line", "-\n  a: 1\n  a: 2\n-\n  a: 1\n", ["a 2 3"]],
  ["in quotes and without", "'it''s': 1\n\"it's\": 2\n1K: 1\n\"1K\" : 2\n", ["it's 1 2", "1K 3 4"]],
  ["with an anchor or a tag", "a: &x\n  k: 1\n  k: 2\nb: !!map\n  k: 1\n&y a: 1\n", ["k 2 3", "a 1 6"]],
  ["three times", "a: 1\na: 2\na: 3\n", ["a 1 2", "a 1 3"]],
  ["with line ends of Windows", "a: 1\r\nx:\r\n  b: 1\r\n  b: 2\r\na: 1\r\n", ["b 3 4", "a 1 5"]],
  ["behind the start of a document", "\uFEFF%YAML 1.2\n--- # first\na: 1\na: 2\n...\n", ["a 3 4"]],
  ["after a text of several lines", "x:\n  t: |\n    a: 1\n    a: 2\n  a: 1\n  a: 1\n", ["a 5 6"]],
  ["after braces of several lines", "x: {\n  a: 1,\n  b: 2\n}\nx: 1\n", ["x 1 5"]],
])("a key that stands twice is found %s", (_, text, expected) => {
  expect(find(text)).toEqual(expected);
});

test.each([
  [
    "in a text kept as it is",
    "a: |-\n  k: 1\n\n  k: 2\nb:\n  - >2\n     k: 1\n    k: 2\n  - |\n   k: 1\n   k: 2\n",
  ],
  ["in a text under its key", "a:\n  |\n  k: 1\n  k: 2\n"],
  ["in a quoted text", 'a: \'k: 1\n\n  k: 2\n  k: 3\'\nb: "\n  k: 1\n  k: 2 \\"\n  k: 3"\n'],
  ["in braces and brackets", "a: {x: {\n  k: 1}, y: {\n  k: 1}}\nb: [\n  k: 1,\n  k: 2\n]\n"],
  ["in a comment", "a: 1\n# a: 2\nb: 1 # a: 3\n#\n  # b: 1\n"],
  ["in plain text", "a: http://a:80/x\nb: x:1 it's {\n  \"go on\n  - k\nc: [a:b, 'k: 1']\n"],
  ["in items of their own", "x:\n  - k: 1\n    l: 1\n  - k: 1\n    l: 1\ny:\n- k: 1\n- k: 2\n"],
  ["where a mapping is merged", "x: &p {a: 1}\ny: &q {b: 1}\nz:\n  <<: *p\n  <<: *q\n"],
  [
    "under explicit keys and aliases",
    "k: &x foo\nm:\n  a:\n    k: 1\n  *x :\n    k: 2\n  ? b\n  : k: 1\n  ? c\n  : k: 1\n",
  ],
])("nothing is found %s", (_, text) => {
  expect(find(text)).toEqual([]);
});

test("the shipped catalogue, the example and the tests' files name nothing twice", async () => {
  const root = `${import.meta.dir}/../..`;
  const names = await Array.fromAsync(new Bun.Glob("*.yaml").scan({ cwd: `${root}/catalogue` }));
  expect(names).toContain("sandbox.yaml");
  const paths = [...names.map((name) => `catalogue/${name}`), "gateway.example.yaml"];
  const shipped = await Promise.all(paths.map((path) => Bun.file(`${root}/${path}`).text()));
  for (const text of [...shipped, SANDBOX_CATALOGUE, OPENAI_CATALOGUE]) expect(find(text)).toEqual([]);
});

const word = fc.oneof(
  fc.constantFrom("a", "b", "k: 1", "it's", "- x", "# y", "|", "{", "two\nlines: 1\nlines: 2\n"),
  fc.string(),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof({ maxDepth: 4 }, word, tie("list"), tie("mapping")),
  list: fc.array(tie("tree"), { maxLength: 3 }),
  mapping: fc.dictionary(
    fc.oneof(word, fc.constantFrom("1", "0x1", "~", "null", "c d", "-e", "f:g")),
    tie("tree"),
    { maxKeys: 4 },
  ),
}));

test("a written tree has no key twice, and one more line for its first key is found", () => {
  fc.assert(
    fc.property(tree, (value) => {
      const text = `first: 1\n${Bun.YAML.stringify({ rest: value, last: [value] }, null, 2)}\n`;
      expect(findDuplicateKeys(text)).toEqual([]);
      const line = text.split("\n").length;
      expect(findDuplicateKeys(`${text}first: 2\n`)).toEqual([{ key: "first", firstLine: 1, line }]);
    }),
  );
});
