import type { SimulatedResponse } from "../http-server.ts";
import { sendJson } from "../transport.ts";
import type { Behaviour } from "../behaviour.ts";

/** An error response in the vendor's envelope (Ark API reference, error codes). */
export interface Refusal {
  status: number;
  code: string;
  message: string;
  param?: string;
  type?: string;
  headers?: Record<string, string>;
}

const REQUEST_ID = "0217000000000000a1b2c3d4e5f60718293a4b5c6d7e8f90";

/** Returns the error's body. Like the vendor, adds the request's id to the message. */
export function envelope({ code, message, param = "", type = "BadRequest" }: Refusal): object {
  return { error: { code, message: `${message} Request id: ${REQUEST_ID}`, param, type } };
}

export async function refuse(response: SimulatedResponse, refusal: Refusal): Promise<void> {
  await sendJson(response, refusal.status, envelope(refusal), {}, refusal.headers);
}

export function invalid(param: string, why: string, code = "InvalidParameter"): Refusal {
  const message = `The parameter \`${param}\` specified in the request is not valid: ${why}.`;
  return { status: 400, code, message, param };
}

export const WRONG_KEY: Refusal = {
  status: 401,
  code: "AuthenticationError",
  message: "The API key in the request is missing or invalid.",
  type: "Unauthorized",
};

export const UNKNOWN_PATH: Refusal = {
  status: 404,
  code: "InvalidEndpointOrModel.NotFound",
  message: "The path does not exist.",
  type: "NotFound",
};

export function unknownModel(model: string): Refusal {
  const message = `The model or endpoint ${model} does not exist or you do not have access to it.`;
  return { status: 404, code: "InvalidEndpointOrModel.NotFound", message, type: "NotFound" };
}

/** Status of each code in the vendor's table. `content-refused` and `error-status` select a code by `text`. */
export const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  InvalidParameter: 400,
  MissingParameter: 400,
  "InvalidImageURL.EmptyURL": 400,
  "InvalidImageURL.InvalidFormat": 400,
  InputTextSensitiveContentDetected: 400,
  InputTextRiskDetection: 400,
  InputImageRiskDetection: 400,
  OutputTextRiskDetection: 400,
  OutputImageRiskDetection: 400,
  InputImageSensitiveContentDetected: 400,
  "InputImageSensitiveContentDetected.PrivacyInformation": 400,
  OutputImageSensitiveContentDetected: 400,
  "OutputImageSensitiveContentDetected.DeepFake": 400,
  AuthenticationError: 401,
  AccountOverdueError: 403,
  AccessDenied: 403,
  "OperationDenied.ServiceNotOpen": 403,
  ModelNotOpen: 404,
  "InvalidEndpointOrModel.NotFound": 404,
  "InvalidEndpointOrModel.ModelIDAccessDisabled": 404,
  ModelAccountIpmRateLimitExceeded: 429,
  ModelAccountRpmRateLimitExceeded: 429,
  ModelAccountTpmRateLimitExceeded: 429,
  APIAccountRpmRateLimitExceeded: 429,
  AccountRateLimitExceeded: 429,
  RequestBurstTooFast: 429,
  ServerOverloaded: 429,
  InflightBatchsizeExceeded: 429,
  QuotaExceeded: 429,
  SetLimitExceeded: 429,
  InternalServiceError: 500,
};

export const SENSITIVE = "The request failed because the output image may contain sensitive information.";

/** Returns the error of a behaviour. `text` may contain the error's code. */
export function findRefusal(behaviour: Behaviour, authorization: string): Refusal | undefined {
  const headers = behaviour.retryAfter === undefined ? undefined : { "retry-after": behaviour.retryAfter };
  const code = behaviour.text ?? "";
  switch (behaviour.fault) {
    case "echo-authorization":
      return { ...invalid("model", `bad header ${authorization}`), headers };
    case "content-refused":
      return { status: STATUS_BY_CODE[code] ?? 400, code, message: SENSITIVE, headers };
    case "error-status": {
      const status = behaviour.status ?? STATUS_BY_CODE[code] ?? 500;
      const type = status === 429 ? "TooManyRequests" : "BadRequest";
      return { status, code, message: "The request failed.", type, headers };
    }
    default:
      return undefined;
  }
}
