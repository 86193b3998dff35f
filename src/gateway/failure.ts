import { GatewayError } from "../domain/gateway-error.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { DependencyError } from "./dependency-error.ts";
import { callerError } from "./routing/caller-error.ts";

const RETRY_SECONDS = 2;

/**
 * Returns the error that a caller receives for a thrown value. A `GatewayError` is returned unchanged. An error of a
 * vendor is returned without the vendor's name. An unavailable dependency or an exhausted resource of this machine
 * becomes a 503. Everything else becomes `internal_error` without details.
 */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (thrown instanceof UpstreamError) return callerError(thrown);
  if (thrown instanceof DependencyError) {
    return unavailable("The gateway cannot reach what it needs just now. Retry shortly.", thrown);
  }
  if (isExhaustedResource(thrown))
    return unavailable("This server lacks resources just now. Retry shortly.", thrown);
  return new GatewayError("internal_error", "The gateway failed. Retry later.", { cause: thrown });
}

function unavailable(message: string, cause: unknown): GatewayError {
  return new GatewayError("dependency_unavailable", message, { retryAfterSeconds: RETRY_SECONDS, cause });
}

/** True when the disk is full, read-only or failing, or when no file handle is left. */
function isExhaustedResource(thrown: unknown): boolean {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" && /^(ENOSPC|EDQUOT|EROFS|EIO|EMFILE|ENFILE)$/.test(code);
}
