import { readdirSync, readFileSync } from "node:fs";

/** A regular expression literal in the sources, with its location. */
export interface FoundExpression {
  where: string;
  expression: RegExp;
}

/** Finds every regular expression literal in the `.ts` and `.tsx` files of a folder, except tests. */
export function findExpressions(folder: string): FoundExpression[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const sources = names.filter((name) => /(?<!\.test)\.tsx?$/.test(name));
  return sources.flatMap((name) => scanExpressions(readFileSync(`${folder}/${name}`, "utf8"), name));
}

/**
 * Returns the literals of a source. Throws a `SyntaxError` for an invalid literal, such as other text that was read as
 * one.
 */
export function scanExpressions(source: string, name: string): FoundExpression[] {
  const found: FoundExpression[] = [];
  /** Depths of braces at which the `${` of template literals began. */
  const templates: number[] = [];
  let depth = 0;
  let before = "";
  for (let at = 0; at < source.length;) {
    TOKEN.lastIndex = at;
    const isEndOfSlot = source[at] === "}" && templates.at(-1) === depth;
    const token = isEndOfSlot ? null : TOKEN.exec(source);
    if (isEndOfSlot) templates.pop();
    const text = token?.[0] ?? "";
    if (isEndOfSlot || source[at] === "`") {
      const end = endOfTemplate(source, at + 1);
      before = source[end - 1] ?? "";
      if (before === "{") templates.push(depth);
      at = end;
      continue;
    }
    // In JSX, a slash can also belong to a tag, or be a text between spaces.
    const isOfJsx = name.endsWith(".tsx") && (before === "<" || /^\/[\s>]/.test(text));
    if (token?.groups?.["body"] !== undefined && !isOfJsx && mayBeginExpression(before)) {
      const { body, flags = "" } = token.groups;
      const line = source.slice(0, at).split("\n").length;
      found.push({ where: `${name}:${line} ${text}`, expression: new RegExp(body, flags) });
      at += text.length;
      before = ")";
      continue;
    }
    const step = token?.groups?.["body"] === undefined ? text || (source[at] ?? "") : "/";
    if (step === "{") depth += 1;
    if (step === "}") depth -= 1;
    at += step.length;
    if (step.trim() !== "" && !/^\/[/*]/.test(step)) before = step;
  }
  return found;
}

/** Matches white space, a comment, a string, a word, or a literal between slashes. */
const TOKEN =
  /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[\w$]+|\/(?<body>(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/(?<flags>[a-z]*)/y;

/** A slash after a value is a division. After an operator or one of these words, a slash begins a literal. */
function mayBeginExpression(before: string): boolean {
  return /^(?:return|typeof|case|in|of|await|yield)$/.test(before) || !/[\w$)\]`"']$/.test(before);
}

/** Returns the position after the end of a template literal, or after its next `${`. */
function endOfTemplate(source: string, from: number): number {
  for (let at = from; at < source.length; at += 1) {
    if (source[at] === "\\") at += 1;
    else if (source[at] === "`") return at + 1;
    else if (source.startsWith("${", at)) return at + 2;
  }
  return source.length;
}
