/** Replaces comments, strings and regular expressions of a source by blanks. Expressions in templates remain. */
export function stripped(source: string): string {
  const pattern =
    /\/\/.*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|(?<=[=(,:[!&|?{};]\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g;
  return source.replace(pattern, (match) => {
    if (!match.startsWith("`")) return " ".concat("\n".repeat(match.split("\n").length - 1));
    return [...match.matchAll(/\$\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}/g)]
      .map(([, code]) => stripped(code ?? ""))
      .join(" ; ");
  });
}
