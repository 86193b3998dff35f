import { resolve } from "node:path";
import { z } from "zod";
import { addressesOfServers } from "../lib/postgres-address.ts";
import type { Environment } from "./environment.ts";
import { operatorMessage, type OperatorMessage } from "../domain/operator-message.ts";
import { inputError } from "../domain/schema-problems.ts";

/** The error for a value that should be a reference to a secret. */
export const wrongSecret = inputError(
  (input: unknown) => (typeof input === "string" ? "input.secret.plain" : "input.secret.reference"),
  {},
);

/** A reference to a secret. The configuration file never contains secrets themselves. */
export const secretReferenceSchema = z
  .union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })], {
    error: wrongSecret,
  })
  .describe("A secret by reference: {env: NAME} or {file: path}");

export type SecretReference = z.output<typeof secretReferenceSchema>;

/** A decrypted secret from the database. A configuration file cannot contain one. */
export class OpenedSecret {
  constructor(readonly text: string) {}
}

/** The sources of secrets: the environment and files. Relative paths of files start from `directory`. */
export interface SecretSource {
  env: Environment;
  directory: string;
}

/**
 * Returns the secret, or a description of the problem with its reference. Removes white space around the content of a
 * file.
 */
export async function resolveSecret(
  reference: SecretReference,
  source: SecretSource,
): Promise<{ secret: string } | { problem: OperatorMessage }> {
  if ("env" in reference) {
    const secret = source.env[reference.env];
    return secret
      ? { secret }
      : { problem: operatorMessage("input.variable.unset", { variable: reference.env }) };
  }
  const file = Bun.file(resolve(source.directory, reference.file));
  const secret = await file.text().then(
    (text) => text.trim(),
    () => null,
  );
  const named = { file: reference.file };
  if (secret === null) return { problem: operatorMessage("input.file.unreadable", named) };
  return secret === "" ? { problem: operatorMessage("input.file.empty", named) } : { secret };
}

/** True when a value of unknown type is a reference to a secret. */
export function isSecretReference(value: unknown): value is SecretReference {
  return typeof value === "object" && secretReferenceSchema.safeParse(value).success;
}

/** True when an address contains a password, either before its host or as a parameter. Databases allow both. */
export function hasPassword(address: string): boolean {
  const [url] = addressesOfServers(address).map((text) => URL.parse(text));
  if (!url) return false;
  return url.password !== "" || url.searchParams.keys().some((name) => name.toLowerCase() === "password");
}
