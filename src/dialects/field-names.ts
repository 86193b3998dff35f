import { GatewayError } from "../domain/gateway-error.ts";
import { foldCase } from "../lib/casing.ts";

/** Names that the gateway reads, by their form without case. */
export type KnownNames = ReadonlyMap<string, string>;

const PLAIN = /^[a-z0-9_]*$/;

export function knownNames(names: Iterable<string>): KnownNames {
  return new Map(Array.from(names, (name) => [foldCase(name), name]));
}

/**
 * Refuses a name that differs only in case from one that the gateway reads: a vendor whose reader ignores case would
 * obey a value that the gateway has not checked. `path` is that of the object, empty at the top.
 */
export function refuseCaseVariants(object: object, known: KnownNames, path = ""): void {
  for (const name in object) {
    if (known.get(name) === name || (PLAIN.test(name) && !known.has(name))) continue;
    const meant = known.get(foldCase(name));
    if (meant === undefined || meant === name) continue;
    const message = `\`${name}\` differs only in case from \`${meant}\`. Use that name, once, or leave it out.`;
    throw new GatewayError("invalid_parameter", message, { param: path === "" ? name : `${path}.${name}` });
  }
}
