import { ownValue } from "../../lib/own-value.ts";
import { untranslatable } from "./untranslatable.ts";

/**
 * Throws an `UpstreamError` for a field of a request that its translation does not have: nothing is dropped in silence.
 * `neutral` has the values by which other fields ask for nothing.
 */
export function refuseOthers(
  body: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  neutral: Readonly<Record<string, (value: unknown) => boolean>>,
): void {
  for (const name in body) {
    const value = body[name];
    if (value === undefined || value === null || known.has(name) || ownValue(neutral, name)?.(value))
      continue;
    throw untranslatable(name);
  }
}
