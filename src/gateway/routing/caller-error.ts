import { GatewayError } from "../../domain/gateway-error.ts";
import type { UpstreamError } from "../../domain/upstream-error.ts";

const MAX_RETRY_AFTER_SECONDS = 60;

/** Returns the error that the client gets for a vendor's failure when no target is left. The error names no vendor. */
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
    case "too_long": {
      const message = error.publicMessage ?? "The input is longer than the model's context. Send less.";
      return new GatewayError("context_length_exceeded", message, detailOf(error));
    }
    case "too_large": {
      const message = "The request is larger than the model takes. Send less, or smaller pictures.";
      return new GatewayError("payload_too_large", message, { cause: error });
    }
    case "rejected": {
      const message = error.publicMessage ?? "The model does not accept this request. Check its parameters.";
      return new GatewayError("invalid_parameter", message, detailOf(error));
    }
    case "unreachable":
    case "empty":
    case "broken":
      return new GatewayError("upstream_error", "The model gave no usable answer. Retry later.", {
        cause: error,
      });
  }
}

function detailOf(error: UpstreamError) {
  return { ...(error.param !== undefined && { param: error.param }), cause: error };
}
