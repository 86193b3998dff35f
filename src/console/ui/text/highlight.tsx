import bash from "highlight.js/lib/languages/bash";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import { createLowlight } from "lowlight";
import type { ReactNode } from "react";

export type CodeLanguage = "bash" | "json" | "python" | "typescript";

const lowlight = createLowlight({ bash, json, python, typescript });

/** The colours for kinds of tokens. Other kinds have the colour of the text. */
const LOOKS: Readonly<Record<string, string>> = {
  "hljs-keyword": "text-accent",
  "hljs-built_in": "text-accent",
  "hljs-string": "text-good",
  "hljs-number": "text-warn",
  "hljs-literal": "text-warn",
  "hljs-comment": "text-muted",
  "hljs-attr": "text-accent",
  "hljs-variable": "text-warn",
};

/** Returns `code` with coloured tokens. */
export function highlight(code: string, language: CodeLanguage): ReactNode {
  return lowlight.highlight(language, code).children.map(renderNode);
}

type Child = ReturnType<typeof lowlight.highlight>["children"][number];

function renderNode(node: Child, index: number): ReactNode {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return null;
  const [kind] = Array.isArray(node.properties["className"]) ? node.properties["className"] : [];
  return (
    <span key={index} className={LOOKS[String(kind)]}>
      {node.children.map(renderNode)}
    </span>
  );
}
