/** Numeric limits; `null` for no limit. */
export interface Limits {
  /** Requests a minute on text routes, which include embeddings. */
  requestsPerMinute: number | null;
  /** Tokens a minute on text routes, which include embeddings. */
  tokensPerMinute: number | null;
  imagesPerMinute: number | null;
  /** Maximum number of simultaneous synchronous image calls. */
  concurrentImages: number | null;
  queuedJobs: number | null;
  runningJobs: number | null;
}

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

/** The remaining part of one limit after a request. */
export interface RateWindow {
  limit: number;
  remaining: number;
  /** Whole seconds until the full limit is available again; 0 when it is available now. */
  resetSeconds: number;
}

/** The state of the limits for the rate-limit headers; `null` where no limit applies. */
export interface LimitState {
  /** State of the limit of requests a minute (text routes) or of images a minute (image routes). */
  requests: RateWindow | null;
  tokens: RateWindow | null;
}
