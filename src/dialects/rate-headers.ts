import type { LimitState, RateWindow } from "../domain/limits.ts";
import { systemClock } from "../lib/clock.ts";
import type { TextDialectName } from "./name.ts";

/**
 * Returns the rate-limit headers of a response. `now` is in Unix milliseconds. The messages protocol has Anthropic's
 * headers, with RFC 3339 timestamps. All other protocols have OpenAI's headers (rate limit reference).
 */
export function rateHeaders(
  limitState: LimitState | null,
  dialect: TextDialectName,
  now: number = systemClock.now(),
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (limitState?.requests) writeHeaders(headers, limitState.requests, "requests", dialect, now);
  if (limitState?.tokens) writeHeaders(headers, limitState.tokens, "tokens", dialect, now);
  return headers;
}

const CHAT_HEADERS = {
  requests: {
    limit: "x-ratelimit-limit-requests",
    remaining: "x-ratelimit-remaining-requests",
    reset: "x-ratelimit-reset-requests",
  },
  tokens: {
    limit: "x-ratelimit-limit-tokens",
    remaining: "x-ratelimit-remaining-tokens",
    reset: "x-ratelimit-reset-tokens",
  },
} as const;

function writeHeaders(
  headers: Record<string, string>,
  { limit, remaining, resetSeconds }: RateWindow,
  unit: "requests" | "tokens",
  dialect: TextDialectName,
  now: number,
): void {
  if (dialect !== "messages") {
    const names = CHAT_HEADERS[unit];
    headers[names.limit] = String(limit);
    headers[names.remaining] = String(remaining);
    headers[names.reset] = `${resetSeconds}s`;
    return;
  }
  headers[`anthropic-ratelimit-${unit}-limit`] = String(limit);
  headers[`anthropic-ratelimit-${unit}-remaining`] = String(remaining);
  const resetsAt = new Date(Math.ceil(now / 1000 + resetSeconds) * 1000);
  headers[`anthropic-ratelimit-${unit}-reset`] = resetsAt.toISOString().replace(".000Z", "Z");
}
