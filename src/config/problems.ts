import type { Problem } from "../lib/schema-problems.ts";

/** The configuration cannot be used. Holds every problem found, so that one round of repair is enough. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";

  constructor(readonly problems: readonly Problem[]) {
    super(["The configuration cannot be used:", ...problems.map(problemLine)].join("\n"));
  }
}

/** Collects problems while loading goes on. */
export type Report = (path: string, message: string) => void;

function problemLine({ path, message }: Problem): string {
  return `  ${path}: ${message}`;
}
