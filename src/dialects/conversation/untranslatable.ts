import { UpstreamError } from "../../domain/upstream-error.ts";

/**
 * A request that this vendor's protocol cannot express. Nothing was sent, and another target may speak the caller's
 * own protocol. `param` is the caller's field.
 */
export function untranslatable(
  param: string,
  advice = "Leave it out, or choose another model.",
): UpstreamError {
  const publicMessage = `This model is not offered with \`${param}\`. ${advice}`;
  return new UpstreamError("rejected", `${param} cannot be translated`, {
    publicMessage,
    param,
    isUnsent: true,
    isByRequest: true,
  });
}
