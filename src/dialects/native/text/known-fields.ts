import { snakeCase } from "../../../lib/casing.ts";
import type { StreamedObject } from "../../../lib/json-spool.ts";
import { untranslatable } from "../../conversation/untranslatable.ts";
import { findField } from "../fields.ts";

/** Throws for a field with a value that is not known here, and that would be lost in another protocol. */
export function refuseUnknown(object: StreamedObject, known: ReadonlySet<string>, path = ""): void {
  for (const name of Object.keys(object)) {
    if (known.has(name) || findField(object, name) === undefined) continue;
    throw untranslatable(path === "" ? name : `${path}.${name}`);
  }
}

/** Names in camel case and in snake case, which are equivalent. */
export function namesOf(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.flatMap((name) => [name, snakeCase(name)]));
}
