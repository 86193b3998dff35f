import type { Problem, Words } from "../domain/schema-problems.ts";

/**
 * The error of a configuration that cannot be used. It contains all problems found, so that all can be fixed at once.
 */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";

  constructor(readonly problems: readonly Problem[]) {
    super(["The configuration cannot be used:", ...problems.map(problemLine)].join("\n"));
  }
}

export type ReportProblem = (path: string, words: Words | string) => void;

/** Reports a problem that an entry of the database can have, too. The console shows it, so its words have a code. */
export type ReportShown = (path: string, words: Words) => void;

/** True when `path` equals `ancestor` or lies below it. */
export function isAtOrBelow(path: string, ancestor: string): boolean {
  return path.startsWith(ancestor) && /^(?:$|[.[])/.test(path.slice(ancestor.length));
}

function problemLine({ path, message }: Problem): string {
  return `  ${path}: ${message}`;
}
