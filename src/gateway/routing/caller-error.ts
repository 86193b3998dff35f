import { GatewayError } from "../../domain/gateway-error.ts";
import type { UpstreamError } from "../../domain/upstream-error.ts";

const MAX_RETRY_AFTER_SECONDS = 60;

/** Returns the error sent to the client for a vendor's failure, once no target is left. It names no vendor. */
export function callerError(error: UpstreamError): GatewayError {
  const retryAfterSeconds = Math.min(
    Math.max(Math.ceil(error.retryAfterSeconds ?? 1), 1),
    MAX_RETRY_AFTER_SECONDS,
  );
  const retry = { retryAfterSeconds, cause: error };
  switch (error.kind) {
    case "timeout":
      return new GatewayError("upstream_timeout", "The model did not answer in time. Retry later.", {
        cause: error,
      });
    case "limited":
      return new GatewayError(
        "rate_limit_exceeded",
        "The model is receiving too many requests. Retry later.",
        retry,
      );
    case "overloaded":
      return new GatewayError("overloaded", "The model is overloaded at the moment. Retry later.", retry);
    case "account":
      return new GatewayError("upstream_auth_failed", "The gateway may not use this model at the moment.", {
        ...(error.isFinal && { shouldRetry: false }),
        cause: error,
      });
    case "refused": {
      const message =
        error.publicMessage ?? "The content was refused by the model's safety policy. Change the prompt.";
      return new GatewayError("content_policy_violation", message, { cause: error });
    }
    case "rejected": {
      const detail = { ...(error.param !== undefined && { param: error.param }), cause: error };
      if (error.isContextExceeded) {
        const message = error.publicMessage ?? "The input is longer than the model's context. Send less.";
        return new GatewayError("context_length_exceeded", message, detail);
      }
      const message = error.publicMessage ?? "The model does not accept this request. Check its parameters.";
      return new GatewayError("invalid_parameter", message, detail);
    }
    case "unreachable":
    case "broken":
      return new GatewayError("upstream_error", "The model gave no usable answer. Retry later.", {
        cause: error,
      });
  }
}
