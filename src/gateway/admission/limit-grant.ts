import type { Principal } from "../../domain/api-key.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { Limits, LimitState } from "../../domain/limits.ts";
import type {
  Limiter,
  LimitQuantity,
  LimitRequest,
  LimitReservation,
  LimitSettings,
  LimitVerdict,
  LimitWindow,
} from "./limits.ts";
import { countText } from "../../lib/count-text.ts";

/** The pipeline whose limits apply: `text` counts requests and tokens, `image` counts images and concurrency slots. */
export type LimitedPipeline = "text" | "image";

/**
 * The amounts that the limits have counted for one request. They stay counted when the request is refused or fails,
 * with three exceptions. The number of tokens is corrected. The slot is released. The first image is given back when
 * the image limit refuses the other images.
 */
export class LimitGrant {
  #requestsWindow: LimitWindow | null = null;
  #tokensWindow: LimitWindow | null = null;
  #countedTokens = 0;
  #isReleased = false;
  #correcting: Promise<void> | undefined;
  readonly #reservations: LimitReservation[] = [];
  readonly #limiter: Limiter;
  readonly #settings: LimitSettings;
  readonly #principal: Principal;

  constructor(limiter: Limiter, settings: LimitSettings, principal: Principal) {
    this.#limiter = limiter;
    this.#settings = settings;
    this.#principal = principal;
  }

  /** The tighter limit of organization and key for each quantity, at its last count; null without limits per minute. */
  get limitState(): LimitState | null {
    const requests = this.#requestsWindow;
    const tokens = this.#tokensWindow;
    return requests || tokens ? { requests, tokens } : null;
  }

  /**
   * Counts one request, or one image and one slot. Needs only the request's headers. Call it once, before the body is
   * read and before any other method.
   */
  open(pipeline: LimitedPipeline): Promise<void> | undefined {
    if (pipeline === "text") return this.#take(this.#requests("requests", 1, "model"));
    return this.#take([...this.#requests("images", 1, "n"), ...this.#requests("concurrent_images", 1, "n")]);
  }

  /**
   * Counts the estimated tokens of a text request. Throws `invalid_parameter` when the estimate exceeds the whole
   * limit, and `rate_limit_exceeded` when the limit is 0 or used up. `param` is the name of the caller's parameter that
   * makes the request smaller.
   */
  countTokens(estimated: number, param: string): Promise<void> | undefined {
    const tokens = Math.max(0, Math.ceil(estimated));
    const counting = this.#take(this.#requests("tokens", tokens, param));
    if (counting) return counting.then(() => void (this.#countedTokens = tokens));
    this.#countedTokens = tokens;
    return undefined;
  }

  /** Counts the images beyond the first. Throws as `countTokens` does; then no image stays counted. */
  countImages(count: number): Promise<void> | undefined {
    const requests = this.#requests("images", count, "n");
    if (count === 1) return undefined;
    for (const request of requests) request.amount = count - 1;
    return this.#take(requests);
  }

  /** Replaces the counted tokens by the actual tokens. A later call replaces the tokens of an earlier call. */
  correctTokens(actual: number): void {
    const by = actual - this.#countedTokens;
    this.#countedTokens = actual;
    this.#correct("tokens", by);
  }

  /** Resolves when every process counts the corrected amount; undefined when there is nothing to wait for. */
  get correcting(): Promise<void> | undefined {
    return this.#correcting;
  }

  /** Releases the request's slots when the request has ended. Later calls do nothing. Returns `correcting`. */
  release(): Promise<void> | undefined {
    if (this.#isReleased) return undefined;
    this.#isReleased = true;
    for (const reservation of this.#reservations) reservation.release();
    return this.#correcting;
  }

  /**
   * Returns the amounts to count against the limits of the organization and of the key. An owner without a limit adds
   * none. Throws when `amount` exceeds a whole limit. `param` is the caller's parameter that makes the request smaller.
   */
  #requests(quantity: LimitQuantity, amount: number, param: string): LimitRequest[] {
    const { organization, key } = this.#principal;
    const name = LIMIT_NAMES[quantity];
    const requests: LimitRequest[] = [];
    const ofOrganization = limitOf(organization.limits[name], this.#settings.organization[name]);
    if (ofOrganization !== null) {
      const owner = organization.id;
      requests.push({ quantity, scope: "organization", owner, limit: ofOrganization, amount });
    }
    const ofKey = limitOf(key.limits[name], this.#settings.key[name]);
    if (ofKey !== null) requests.push({ quantity, scope: "key", owner: key.id, limit: ofKey, amount });
    const exceeded = requests.find(({ limit }) => amount > limit);
    if (!exceeded) return requests;
    if (quantity === "images") this.#giveBackFirstImage();
    throw neverAdmitted(exceeded, param);
  }

  /** Gives back the first image, so that refused larger requests do not use up the limit for smaller requests. */
  #giveBackFirstImage(): void {
    if (this.#reservations.length === 0) return;
    this.#correct("images", -1);
    const window = this.#requestsWindow;
    if (window) this.#requestsWindow = { ...window, remaining: window.remaining + 1 };
  }

  #correct(quantity: LimitQuantity, by: number): void {
    for (const reservation of this.#reservations)
      this.#correcting = reservation.correct(quantity, by) ?? this.#correcting;
  }

  #take(requests: readonly LimitRequest[]): Promise<void> | undefined {
    if (requests.length === 0) return undefined;
    const verdict = this.#limiter.take(requests);
    if (verdict instanceof Promise) return verdict.then((verdict) => this.#accept(verdict));
    this.#accept(verdict);
    return undefined;
  }

  #accept(verdict: LimitVerdict): void {
    // A new window replaces the earlier window of the same quantity. All windows of a verdict have the same quantity.
    const window = tightest(verdict.windows);
    if (window?.quantity === "tokens") this.#tokensWindow = window;
    else if (window) this.#requestsWindow = window;
    if (verdict.isAdmitted) {
      this.#reservations.push(verdict.reservation);
      return;
    }
    const { failed, retryAfterSeconds } = verdict;
    if (failed.quantity === "images") this.#giveBackFirstImage();
    const { limitState } = this;
    const wait = `Retry in ${countText(retryAfterSeconds, "second")}.`;
    throw new GatewayError("rate_limit_exceeded", `${nameOf(failed)} is reached. ${wait}`, {
      retryAfterSeconds,
      ...(limitState && { limitState }),
    });
  }
}

const LIMIT_NAMES: Record<LimitQuantity, keyof Limits> = {
  requests: "requestsPerMinute",
  tokens: "tokensPerMinute",
  images: "imagesPerMinute",
  concurrent_images: "concurrentImages",
};

/** Returns the limit in force. `??` would be wrong, because an own limit of `null` removes the configured one. */
export function limitOf(own: number | null | undefined, configured: number | null): number | null {
  return own === undefined ? configured : own;
}

/**
 * Returns the error for a request that the limit always refuses. When a smaller request would be admitted, the error is
 * a 400, because official clients never retry a 400.
 */
function neverAdmitted(request: LimitRequest, param: string): GatewayError {
  const { limit, amount } = request;
  if (limit === 0) {
    return new GatewayError("rate_limit_exceeded", `${nameOf(request)} admits nothing.`, {
      shouldRetry: false,
    });
  }
  const counted = `${nameOf(request)} is less than this request counts, which is ${amount}`;
  const message =
    request.quantity === "tokens"
      ? `${counted} with the most output it may get. Set a smaller maximum of output tokens, or send less.`
      : `${counted}. Send a smaller request.`;
  return new GatewayError("invalid_parameter", message, { param });
}

const UNITS: Record<LimitQuantity, string> = {
  requests: "requests a minute",
  tokens: "tokens a minute",
  images: "images a minute",
  concurrent_images: "image calls at once",
};

function nameOf({ scope, limit, quantity }: LimitRequest): string {
  return `${scope === "key" ? "This key's" : "Your organization's"} limit of ${limit} ${UNITS[quantity]}`;
}

function tightest(windows: readonly LimitWindow[]): LimitWindow | null {
  let found: LimitWindow | null = null;
  for (const window of windows) if (!found || window.remaining < found.remaining) found = window;
  return found;
}
