import { expect, test } from "bun:test";

import { GatewayError } from "../../domain/gateway-error.ts";
import {
  DEFAULT_KEY_LIMITS,
  DEFAULT_ORGANIZATION_LIMITS,
  NO_LIMITS,
  type Limits,
  type LimitState,
} from "../../domain/limits.ts";
import { DEFAULT_ORGANIZATION_SETTINGS } from "../../domain/organization.ts";
import { type Principal } from "../../domain/api-key.ts";
import { systemClock } from "../../lib/clock.ts";
import { rateHeaders } from "../../dialects/rate-headers.ts";
import { LimitGrant } from "./limit-grant.ts";
import type { Limiter, LimitSettings } from "./limits.ts";
import { MemoryLimiter } from "./memory-limiter.ts";

const DEFAULTS = { organization: DEFAULT_ORGANIZATION_LIMITS, key: DEFAULT_KEY_LIMITS };
const LIFTED = { organization: NO_LIMITS, key: NO_LIMITS };

test("without limits nothing is counted and no header appears", () => {
  const untouched: Limiter = {
    take() {
      throw new Error("touched");
    },
  };
  const grant = countText(untouched, LIFTED, principal(), 1_000);
  grant.correctTokens(5);
  grant.release();
  expect(rateHeaders(grant.limitState, "chat")).toEqual({});
  expect(countImages(untouched, LIFTED, principal(), 4).limitState).toBeNull();
});

test("an organization has the configured limits unless it has its own, and null lifts one", () => {
  const limitOf = (own: Partial<Limits>) =>
    countText(memory(), DEFAULTS, principal(own), 100).limitState?.requests?.limit;
  expect(limitOf({})).toBe(600);
  expect(limitOf({ requestsPerMinute: 7 })).toBe(7);
  expect(limitOf({ requestsPerMinute: null })).toBeUndefined();
});

test("the headers show the tighter limit of organization and key", () => {
  const limiter = memory();
  const who = principal(
    { requestsPerMinute: 20, tokensPerMinute: 900 },
    { requestsPerMinute: 5, tokensPerMinute: 1_000 },
  );
  const { limitState } = countText(limiter, DEFAULTS, who, 300);
  expect(limitState).toMatchObject({
    requests: { limit: 5, remaining: 4 },
    tokens: { limit: 900, remaining: 600 },
  });
});

test("a refusal names the limit and carries retry-after and the rate headers", () => {
  const limiter = memory();
  const who = principal({ requestsPerMinute: 2 });
  countText(limiter, DEFAULTS, who, 1);
  countText(limiter, DEFAULTS, who, 1);
  const error = refused(() => countText(limiter, DEFAULTS, who, 1));
  expect(error).toMatchObject({ code: "rate_limit_exceeded", status: 429, retryAfterSeconds: 60 });
  expect(error.message).toBe(
    "Your organization's limit of 2 requests a minute is reached. Retry in 60 seconds.",
  );
  expect(error.shouldRetry).toBeUndefined();
  expect(rateHeaders(error.limitState, "chat")).toMatchObject({
    "x-ratelimit-limit-requests": "2",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "60s",
  });
});

test("a request larger than its limit is a 400 that names the limit, and its tokens are not counted", () => {
  const limiter = memory();
  const who = principal({}, { tokensPerMinute: 1_000 });
  const error = refused(() => countText(limiter, DEFAULTS, who, 5_000));
  expect(error).toMatchObject({ code: "invalid_parameter", status: 400, param: "max_tokens" });
  expect(error.retryAfterSeconds).toBeUndefined();
  expect(error.message).toContain(
    "This key's limit of 1000 tokens a minute is less than this request counts",
  );
  expect(countText(limiter, DEFAULTS, who, 0).limitState).toMatchObject({
    requests: { remaining: 598 },
    tokens: { remaining: 1_000 },
  });
});

test("a limit of 0 refuses with 429 and without a time to retry", () => {
  const error = refused(() => countText(memory(), DEFAULTS, principal({}, { requestsPerMinute: 0 }), 1));
  expect(error).toMatchObject({ code: "rate_limit_exceeded", shouldRetry: false });
  expect(error.retryAfterSeconds).toBeUndefined();
});

test("tokens are corrected, the last correction counts, and a request with a refused estimate stays counted", () => {
  const limiter = memory();
  const who = principal({ tokensPerMinute: 1_000, requestsPerMinute: 100 });
  const grant = countText(limiter, DEFAULTS, who, 900);
  const refusal = refused(() => countText(limiter, DEFAULTS, who, 200));
  expect(refusal.limitState).toMatchObject({ tokens: { remaining: 100 }, requests: { remaining: 98 } });
  for (const actual of [500, 100, 100]) grant.correctTokens(actual);
  expect(countText(limiter, DEFAULTS, who, 200).limitState?.tokens?.remaining).toBe(700);
  grant.correctTokens(600);
  expect(countText(limiter, DEFAULTS, who, 0).limitState?.tokens?.remaining).toBe(200);
});

test("an image call releases its slot once, and each image counts", () => {
  const limiter = memory();
  const who = principal({}, { concurrentImages: 2, imagesPerMinute: 100 });
  const first = countImages(limiter, DEFAULTS, who, 4);
  countImages(limiter, DEFAULTS, who, 1);
  const error = refused(() => countImages(limiter, DEFAULTS, who, 1));
  expect(error.message).toStartWith("This key's limit of 2 image calls at once is reached.");
  first.release();
  first.release();
  expect(countImages(limiter, DEFAULTS, who, 1).limitState).toMatchObject({
    requests: { limit: 60, remaining: 54 },
    tokens: null,
  });
  expect(() => countImages(limiter, DEFAULTS, who, 1)).toThrow(GatewayError);
});

test.each([
  ["of the key", {}, { imagesPerMinute: 3 }],
  ["of the organization", { imagesPerMinute: 3 }, {}],
] as const)("a request that the limit of images %s refuses counts no image", (_, organization, key) => {
  const limiter = memory();
  const who = principal(organization, key);
  countImages(limiter, DEFAULTS, who, 2);
  const refusal = refused(() => countImages(limiter, DEFAULTS, who, 2));
  expect(refusal).toMatchObject({ status: 429, limitState: { requests: { limit: 3, remaining: 1 } } });
  expect(refused(() => countImages(limiter, DEFAULTS, who, 4))).toMatchObject({ status: 400 });
  expect(countImages(limiter, DEFAULTS, who, 1).limitState?.requests?.remaining).toBe(0);
});

test("each dialect has its own header names and its own form of the reset", () => {
  const limitState: LimitState = { requests: { limit: 600, remaining: 599, resetSeconds: 12 }, tokens: null };
  expect(rateHeaders(limitState, "chat")).toEqual({
    "x-ratelimit-limit-requests": "600",
    "x-ratelimit-remaining-requests": "599",
    "x-ratelimit-reset-requests": "12s",
  });
  expect(rateHeaders(limitState, "messages", Date.UTC(2026, 0, 31, 23, 59, 50, 400))).toEqual({
    "anthropic-ratelimit-requests-limit": "600",
    "anthropic-ratelimit-requests-remaining": "599",
    "anthropic-ratelimit-requests-reset": "2026-02-01T00:00:03Z",
  });
});

test("tokens that a limiter counts later are corrected as those that it counts at once", async () => {
  const limiter = memory();
  const later: Limiter = { take: async (requests) => limiter.take(requests) };
  const who = principal({ tokensPerMinute: 1_000 });
  const grant = new LimitGrant(later, DEFAULTS, who);
  await grant.open("text");
  await grant.countTokens(600, "max_tokens");
  grant.correctTokens(100);
  expect(countText(limiter, DEFAULTS, who, 1).limitState?.tokens?.remaining).toBe(899);
});

function memory(): MemoryLimiter {
  return new MemoryLimiter({ clock: systemClock });
}

/** Counts a complete text request: first the request, then its tokens. */
function countText(limiter: Limiter, settings: LimitSettings, who: Principal, tokens: number): LimitGrant {
  const grant = new LimitGrant(limiter, settings, who);
  if (grant.open("text")) throw new Error("the memory limiter answers at once");
  grant.countTokens(tokens, "max_tokens");
  return grant;
}

/** Counts a complete image request: first one image and one slot, then the other images. */
function countImages(limiter: Limiter, settings: LimitSettings, who: Principal, count: number): LimitGrant {
  const grant = new LimitGrant(limiter, settings, who);
  if (grant.open("image")) throw new Error("the memory limiter answers at once");
  grant.countImages(count);
  return grant;
}

function refused(attempt: () => unknown): GatewayError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("it was admitted");
}

function principal(organization: Partial<Limits> = {}, key: Partial<Limits> = {}, index = 1): Principal {
  return {
    key: {
      id: `key_${index}`,
      organizationId: `org_${index}`,
      name: "test",
      prefix: "gk_test",
      scopes: new Set(["ai:*"]),
      models: "*",
      addresses: null,
      limits: key,
      budgets: [],
      isDisabled: false,
      refuseIgnored: false,
      expiresAt: null,
    },
    organization: {
      id: `org_${index}`,
      name: "test",
      currency: "USD",
      isDisabled: false,
      models: "*",
      settings: DEFAULT_ORGANIZATION_SETTINGS,
      limits: organization,
      routes: new Map(),
      budgets: [],
    },
  };
}
