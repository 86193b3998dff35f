import { parseBounded } from "../../lib/parse-json.ts";
import { KINDS_BY_REQUEST, UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject, textOf } from "../../lib/json.ts";
import { type Classify, type ResponseHeaders } from "./http.ts";
import { readRetryAfter } from "./retry-after.ts";
import { createSanitizer } from "./public-message.ts";
import { systemClock } from "../../lib/clock.ts";

/**
 * Converts the failures of one vendor to `UpstreamError`s. `read` finds code, message and kind in the vendor's body.
 * Without a kind, the status decides. No message contains the secret.
 */
export function createVendorErrors(redaction: Redaction, read: ReadFailure): VendorErrors {
  const { secret, otherSecrets = [], baseUrl } = redaction;
  const longer = otherSecrets.filter(({ length }) => length >= MIN_SECRET);
  const secrets = secret === null ? longer : [secret, ...longer];
  const sanitize = createSanitizer(secrets, new URL(baseUrl).hostname);

  function raise(
    kind: UpstreamErrorKind,
    { code, message, param, retryAfterSeconds }: FailureReading,
    status?: number,
    isByRequest = false,
  ): UpstreamError {
    const redact = (text: string) =>
      secrets.reduce((rest, each) => rest.replaceAll(each, "[redacted]"), text);
    const logged = redact(code).replace(UNUSUAL_IN_CODE, "?").slice(0, MAX_LOGGED_CODE);
    const isPublic = KINDS_BY_REQUEST.has(kind);
    const hasParam = kind === "rejected" || kind === "too_long";
    return new UpstreamError(kind, `the vendor responded ${status ?? "with a failure"}: ${logged}`, {
      status,
      retryAfterSeconds: kind === "account" ? undefined : retryAfterSeconds,
      publicMessage: isPublic ? sanitize(message) : undefined,
      vendorMessage: redact(message).slice(0, MAX_LOGGED),
      param: hasParam && param !== undefined && PARAM.test(param) ? param : undefined,
      isByRequest,
    });
  }

  return {
    raise: (kind, reading, status) => raise(kind, reading, status),
    classify({ status, headers }, bodyText) {
      const reading = read(parseObject(bodyText), status, headers);
      const decisive = reading.status ?? status;
      const kind = reading.kind ?? kindOfStatus(decisive);
      const retryAfterSeconds = readRetryAfter(headers, systemClock.now()) ?? reading.retryAfterSeconds;
      const isByRequest = reading.kind === undefined && BY_REQUEST.has(decisive);
      return raise(kind, { ...reading, retryAfterSeconds }, status, isByRequest);
    },
  };
}

export interface VendorErrors {
  /** Returns the error for a response that failed by its status or content. */
  classify: Classify;
  /** Returns the error for a failure of a known kind, for example a failure of a job or inside a stream. */
  raise(kind: UpstreamErrorKind, reading: FailureReading, status?: number): UpstreamError;
}

/** Words that must not appear in a message: credentials, and the vendor's name in the address. */
export interface Redaction {
  /** Null for a server that needs no key. */
  secret: string | null;
  /** Values of the operator's own headers. */
  otherSecrets?: readonly string[];
  baseUrl: string;
}

/** Reads a failure. `body` is the parsed object, or the first object of a list, or empty for other bodies. */
export type ReadFailure = (
  body: Record<string, unknown>,
  status: number,
  headers: ResponseHeaders,
) => FailureReading;

export interface FailureReading {
  code: string;
  message: string;
  /**
   * The status in the body. If `kind` is absent, this status determines the kind, and the status of the response does
   * not.
   */
  status?: number;
  kind?: UpstreamErrorKind;
  param?: string;
  /** The vendor's retry delay from the body. A delay in the header takes precedence. */
  retryAfterSeconds?: number;
}

/** Minimum length of a header value that counts as a secret. A shorter value may be part of any word. */
const MIN_SECRET = 8;
const MAX_LOGGED = 300;
const MAX_LOGGED_CODE = 100;
const UNUSUAL_IN_CODE = /[^\w./:[\] -]/g;
const PARAM = /^[\w.[\]-]{1,64}$/;

/**
 * Statuses that do not indicate a problem of the account when there is no code. The request may use a picture, a file
 * or a feature that is forbidden or missing. Another target may be able to serve the request.
 */
const BY_REQUEST: ReadonlySet<number> = new Set([403, 404]);

const KIND_BY_STATUS: Readonly<Record<number, UpstreamErrorKind>> = {
  400: "rejected",
  401: "account",
  402: "account",
  408: "overloaded",
  409: "overloaded",
  413: "too_large",
  422: "rejected",
  424: "overloaded",
  425: "overloaded",
  429: "limited",
  498: "overloaded",
  499: "overloaded",
};

/** Returns the kind that a status indicates. A 4xx outside the tables indicates a wrong address or method. */
export function kindOfStatus(
  status: number,
  overrides: Readonly<Record<number, UpstreamErrorKind>> = {},
): UpstreamErrorKind {
  if (status >= 500) return "overloaded";
  return overrides[status] ?? KIND_BY_STATUS[status] ?? "broken";
}

/** Reads FastAPI's `detail`: one sentence, or the first of a list of problems with their paths. */
export function readDetail({ detail }: Record<string, unknown>): FailureReading {
  if (!Array.isArray(detail)) return { code: "", message: textOf(detail) };
  const problem: unknown = detail[0];
  if (!isObject(problem)) return { code: "", message: "" };
  const field: unknown = Array.isArray(problem["loc"]) ? problem["loc"].at(-1) : undefined;
  return { code: textOf(problem["type"]), message: textOf(problem["msg"]), param: textOf(field) };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = parseBounded(text);
    const value: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
