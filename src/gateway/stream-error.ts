import { GatewayError } from "../domain/gateway-error.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { ClientDisconnected } from "./routing/call.ts";

/**
 * Returns typed errors unchanged: a vendor's failure, a timeout, a disconnection or a gateway error. Every other error
 * becomes the error for a broken connection.
 */
export function asStreamError(error: unknown): unknown {
  return isTyped(error) ? error : unreadable(error);
}

function isTyped(error: unknown): boolean {
  return (
    error instanceof UpstreamError || error instanceof ClientDisconnected || error instanceof GatewayError
  );
}

function unreadable(cause: unknown): UpstreamError {
  return new UpstreamError("unreachable", "the connection broke inside the stream", {
    isAmbiguous: true,
    cause,
  });
}
