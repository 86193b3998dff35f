import { InvalidArgumentError } from "commander";
import { readInputFile } from "./options.ts";

/** The forms of a secret's source, for descriptions and messages. */
export const SOURCES = "env:NAME, file:path, - for the standard input";

/** Reads the source of a secret. Refuses the secret itself: everyone on the machine can see arguments. */
export function readSource(source: string): string {
  if (source === "-" || /^(env|file):.+$/.test(source)) return source;
  throw new InvalidArgumentError(`It must be ${SOURCES}: others can read arguments.`);
}

/** Returns the secret from its source. Throws when there is none. */
export async function readSecret(
  source: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  if (source === "-") return (await readInputFile("-")).trim();
  const [, kind, name = ""] = /^(env|file):(.+)$/.exec(source) ?? [];
  if (kind === "file") return (await readInputFile(name)).trim();
  const value = kind === "env" ? env[name] : undefined;
  if (value) return value;
  throw new Error(`the variable ${name} is not set`);
}
