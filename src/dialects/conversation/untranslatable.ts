import { UpstreamError } from "../../domain/upstream-error.ts";
import { ownValue } from "../../lib/own-value.ts";

/**
 * A request that this vendor's protocol cannot express. Nothing was sent, and another target may speak the caller's own
 * protocol. `param` is the caller's field, `reason` the fault of its content; without a reason the field itself is
 * refused.
 */
export function untranslatable(param: string, reason?: string): UpstreamError {
  const publicMessage =
    reason === undefined
      ? `This model is not offered with \`${param}\`. Leave it out, or choose another model.`
      : `This model does not take \`${param}\` as it is. ${reason}`;
  return new UpstreamError("rejected", `${param} cannot be translated`, {
    publicMessage,
    param,
    isUnsent: true,
    isByRequest: true,
  });
}

/**
 * Throws an `UpstreamError` for a field of a request that its translation does not have: nothing is dropped in silence.
 * `neutral` recognizes values of other fields that request nothing.
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
