/** Numeric limits; `null` is unlimited. */
export interface Limits {
  /** Chat, messages and responses: requests a minute. */
  requestsPerMinute: number | null;
  /** Chat, messages and responses: tokens a minute. */
  tokensPerMinute: number | null;
  imagesPerMinute: number | null;
  /** Synchronous image calls at once. */
  concurrentImages: number | null;
  queuedJobs: number | null;
  runningJobs: number | null;
}

/** Default limits of an organization; those of a key follow below. */
export const DEFAULT_ORGANIZATION_LIMITS: Limits = {
  requestsPerMinute: 600,
  tokensPerMinute: 1_000_000,
  imagesPerMinute: 60,
  concurrentImages: null,
  queuedJobs: 200,
  runningJobs: 20,
};

export const NO_LIMITS: Limits = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  imagesPerMinute: null,
  concurrentImages: null,
  queuedJobs: null,
  runningJobs: null,
};

export const DEFAULT_KEY_LIMITS: Limits = { ...NO_LIMITS, concurrentImages: 8 };

/** The remainder of one limit after a request. */
export interface RateWindow {
  limit: number;
  remaining: number;
  /** Whole seconds until the whole limit is available again, 0 when it is. */
  resetSeconds: number;
}

/** The state of the limits, which the rate-limit headers report; `null` where no limit applies. */
export interface LimitState {
  /** Requests on text routes, images on image routes. */
  requests: RateWindow | null;
  tokens: RateWindow | null;
}
