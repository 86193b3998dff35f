import { UpstreamError, type UpstreamErrorKind } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";
import { readRetryAfter, type Classify } from "./http.ts";
import { createSanitizer } from "./public-message.ts";

/**
 * How a channel tells of its vendor's failures: `read` says what the vendor means, and what is told of it is the same
 * for all. The status decides where `read` leaves the kind open. The credential is never in it.
 */
export function createVendorErrors({ apiKey, baseUrl }: Redaction, read: ReadFailure): VendorErrors {
  const sanitize = createSanitizer(apiKey, new URL(baseUrl).hostname);

  function raise(kind: UpstreamErrorKind, reading: FailureReading, status?: number): UpstreamError {
    const { code, message, param, retryAfterSeconds } = reading;
    const said = `${code} ${message}`.replaceAll(apiKey, "[redacted]").slice(0, MAX_LOGGED);
    const isCallers = kind === "rejected" || kind === "refused";
    return new UpstreamError(kind, `the vendor answered ${status ?? "that it failed"}: ${said}`, {
      status,
      retryAfterSeconds: kind === "account" ? undefined : retryAfterSeconds,
      publicMessage: isCallers ? sanitize(message) : undefined,
      param: kind === "rejected" && param !== undefined && PARAM.test(param) ? param : undefined,
    });
  }

  return {
    raise,
    classify(response) {
      const reading = read(parseObject(response.bodyText));
      const status = reading.status ?? response.status;
      const kind = reading.kind ?? (status >= 500 ? "overloaded" : (KIND_BY_STATUS[status] ?? "broken"));
      const hint = readRetryAfter(response.headers, Date.now()) ?? reading.retryAfterSeconds;
      return raise(kind, { ...reading, retryAfterSeconds: hint }, status);
    },
  };
}

export interface VendorErrors {
  /** Reads an answer whose status, or whose content, says that it failed. */
  classify: Classify;
  /** An error that the vendor tells of by other means. */
  raise(kind: UpstreamErrorKind, reading: FailureReading, status?: number): UpstreamError;
}

export interface Redaction {
  apiKey: string;
  baseUrl: string;
}

export type ReadFailure = (body: Record<string, unknown>) => FailureReading;

/** What a vendor says of a failure, in its own words. */
export interface FailureReading {
  code: string;
  message: string;
  /** What it stands for, when the real status is that of a success. */
  status?: number;
  kind?: UpstreamErrorKind;
  param?: string;
  /** A hint that the vendor gives in the body. */
  retryAfterSeconds?: number;
}

const MAX_LOGGED = 300;
const PARAM = /^[\w.[\]-]{1,64}$/;

const KIND_BY_STATUS: Readonly<Record<number, UpstreamErrorKind>> = {
  400: "rejected",
  401: "account",
  402: "account",
  403: "account",
  404: "account",
  408: "overloaded",
  413: "rejected",
  422: "rejected",
  425: "overloaded",
  429: "limited",
};

/** A text that may be anything; nothing where it is no word. */
export function wordOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/**
 * Reads `detail`, one sentence or a list of problems with their place in the request, as FastAPI writes it. Of a
 * list the first problem counts.
 */
export function readDetail({ detail }: Record<string, unknown>): FailureReading {
  if (!Array.isArray(detail)) return { code: "", message: wordOf(detail) };
  const problem: unknown = detail[0];
  if (!isObject(problem)) return { code: "", message: "" };
  const place: unknown = Array.isArray(problem["loc"]) ? problem["loc"].at(-1) : undefined;
  return { code: wordOf(problem["type"]), message: wordOf(problem["msg"]), param: wordOf(place) };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
