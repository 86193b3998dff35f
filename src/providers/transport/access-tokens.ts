import type { Clock } from "../../lib/clock.ts";
import { type Cancellation, untilAborted } from "../../lib/waiting.ts";

/**
 * Caches the access token of one channel. Concurrent calls share one token request. The token is renewed in the
 * background before it expires. A call waits for a token only if there is no valid one, as at the first call or after
 * the token server has failed.
 */
export function createAccessTokens(request: RequestToken, clock: Clock): AccessTokens {
  let current: CachedToken | undefined;
  let renewal: Promise<string> | undefined;

  async function renew(): Promise<string> {
    try {
      const { token, lifetimeSeconds } = await request(AbortSignal.timeout(REQUEST_TIMEOUT_MS));
      const lifetimeMs = lifetimeSeconds * 1000;
      const now = clock.monotonic();
      const expiresAt = now + lifetimeMs - Math.min(EXPIRY_MARGIN_MS, lifetimeMs / 4);
      current = { token, expiresAt, renewAt: now + lifetimeMs - Math.min(RENEWAL_MARGIN_MS, lifetimeMs / 2) };
      return token;
    } catch (error) {
      // Delays the next renewal, so that a failing token server does not get a request with every call.
      if (current) current.renewAt = clock.monotonic() + RETRY_MS;
      throw error;
    } finally {
      renewal = undefined;
    }
  }

  return {
    async get(signal) {
      signal.throwIfAborted();
      const now = clock.monotonic();
      if (!current || now >= current.expiresAt) return await untilAborted((renewal ??= renew()), signal);
      // A failed renewal does not fail this call, because the old token stays valid for a while.
      if (now >= current.renewAt) (renewal ??= renew()).catch(() => {});
      return current.token;
    },
    drop(token) {
      if (current?.token === token) current = undefined;
    },
  };
}

export interface AccessTokens {
  /** Returns a valid token. Throws an `UpstreamError`, or the signal's reason. */
  get(signal: Cancellation): Promise<string>;
  /** Removes a token that the vendor did not accept. */
  drop(token: string): void;
}

export type RequestToken = (signal: AbortSignal) => Promise<GrantedToken>;

export interface GrantedToken {
  token: string;
  lifetimeSeconds: number;
}

interface CachedToken {
  token: string;
  /** Monotonic milliseconds after which the token is not used. */
  expiresAt: number;
  /** Monotonic milliseconds after which the token is renewed. */
  renewAt: number;
}

const REQUEST_TIMEOUT_MS = 10_000;
const RETRY_MS = 5_000;
const RENEWAL_MARGIN_MS = 300_000;
/** Time before a token's expiry in which the token is not used, to allow for delays and differences between clocks. */
const EXPIRY_MARGIN_MS = 30_000;
