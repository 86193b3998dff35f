import type { ResponseHeaders } from "./http.ts";

const MAX_RETRY_SECONDS = 3600;

/**
 * Reads the vendor's retry delay in whole seconds from 0 to 3600. The source is `retry-after-ms`, or `Retry-After` in
 * seconds or as a date (RFC 9110, 10.2.3). Returns undefined for other values.
 */
export function readRetryAfter(headers: ResponseHeaders, now: number): number | undefined {
  const milliseconds = readNumber(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return clampSeconds(milliseconds / 1000);
  const value = headers.get("retry-after");
  const seconds = readNumber(value);
  if (seconds !== undefined) return clampSeconds(seconds);
  const date = value !== null && /^[A-Z][a-z]{2,8},? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : clampSeconds((date - now) / 1000);
}

function readNumber(text: string | null): number | undefined {
  return text !== null && /^\s*-?\d+(\.\d+)?(e\d{1,3})?\s*$/i.test(text) ? Number(text) : undefined;
}

function clampSeconds(seconds: number): number {
  return Math.min(MAX_RETRY_SECONDS, Math.max(0, Math.ceil(seconds)));
}
