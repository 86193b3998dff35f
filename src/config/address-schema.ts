import { z } from "zod";
import { addressesOfServers } from "../lib/postgres-address.ts";
import { hasPassword, secretReferenceSchema } from "./secret-reference.ts";
import { operatorMessage } from "../domain/operator-message.ts";

/** Returns the schema of an address like `example`. An address with a password must be a reference to a secret. */
export function addressOf(example: string) {
  const error = ({ input }: { input?: unknown }) =>
    typeof input === "string" && hasPassword(input)
      ? operatorMessage("input.secret.plain", {}).message
      : `must be an address such as ${example}, or a reference to one: {env: NAME} or {file: path}`;
  const plain = z.string().refine((text) => hasScheme(text, example) && !hasPassword(text), { error });
  return z.union([plain, secretReferenceSchema], { error }).nullable().default(null);
}
/** True when `text` has the scheme of `example` or an accepted variant, such as `rediss:` for `redis:`. */
export function hasScheme(text: string, example: string): boolean {
  const scheme = example.slice(0, example.indexOf(":"));
  const accepted = {
    postgres: ["postgres:", "postgresql:"],
    redis: ["redis:", "rediss:"],
    smtp: ["smtp:", "smtps:"],
  }[scheme];
  return addressesOfServers(text).every((address) =>
    (accepted ?? [`${scheme}:`]).includes(URL.parse(address)?.protocol ?? ""),
  );
}
