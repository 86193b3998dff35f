import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ReactNode } from "react";
import { highlight } from "./highlight.tsx";

test("the text in colour is the same text, whatever it is", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.json(), fc.string(), fc.constantFrom(SCRIPT, CALL)),
      fc.constantFrom("bash" as const, "json" as const, "python" as const, "typescript" as const),
      (code, language) => expect(textOf(highlight(code, language))).toBe(code),
    ),
  );
});

test("keywords, strings, numbers and comments differ in look", () => {
  const looks = new Set(looksOf([highlight(SCRIPT, "typescript"), highlight('{"n": 1, "s": "x"}', "json")]));
  expect(looks).toEqual(new Set(["text-accent", "text-good", "text-muted", "text-warn"]));
});

const SCRIPT = `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "http://127.0.0.1/v1" });
// A comment & <b>no markup</b>.
console.log(await client.models.list(), 42);`;

const CALL = `curl http://127.0.0.1/v1/models \\
  -H "Authorization: Bearer $KEY" \\
  -d '{"model": "a", "n": 2}'`;

function textOf(node: ReactNode): string {
  if (typeof node === "string") return node;
  if (Array.isArray(node)) return node.map(textOf).join("");
  return isSpan(node) ? textOf(node.props.children) : "";
}

function looksOf(node: ReactNode): string[] {
  if (Array.isArray(node)) return node.flatMap(looksOf);
  if (!isSpan(node)) return [];
  return [...(node.props.className ? [node.props.className] : []), ...looksOf(node.props.children)];
}

function isSpan(node: ReactNode): node is { props: { className?: string; children: ReactNode } } & ReactNode {
  return typeof node === "object" && node !== null && "props" in node;
}
