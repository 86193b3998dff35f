import type { Clock } from "../../lib/clock.ts";

/**
 * Keeps the access token of one channel: asked for once for all who wait, renewed in the background before it
 * ends, so that no call waits for a renewal while the token server is well.
 */
export function createAccessTokens(request: RequestToken, clock: Clock): AccessTokens {
  let current: Kept | undefined;
  let renewal: Promise<string> | undefined;

  async function renew(): Promise<string> {
    try {
      const { token, lifetimeSeconds } = await request(AbortSignal.timeout(REQUEST_TIMEOUT_MS));
      const lifetimeMs = lifetimeSeconds * 1000;
      const now = clock.monotonic();
      const endsAt = now + lifetimeMs - Math.min(END_MARGIN_MS, lifetimeMs / 4);
      current = { token, endsAt, renewAt: now + lifetimeMs - Math.min(EARLY_MS, lifetimeMs / 2) };
      return token;
    } catch (error) {
      // A token server in trouble is not asked again for every call that passes.
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
      if (!current || now >= current.endsAt) return await untilAborted((renewal ??= renew()), signal);
      // The old token still serves, so a renewal that fails is not this call's trouble.
      if (now >= current.renewAt) (renewal ??= renew()).catch(() => {});
      return current.token;
    },
    drop(token) {
      if (current?.token === token) current = undefined;
    },
  };
}

export interface AccessTokens {
  /** A token that is still good. Throws an `UpstreamError`, or the signal's reason. */
  get(signal: AbortSignal): Promise<string>;
  /** Forgets a token that was not accepted. */
  drop(token: string): void;
}

export type RequestToken = (signal: AbortSignal) => Promise<GrantedToken>;

export interface GrantedToken {
  token: string;
  lifetimeSeconds: number;
}

interface Kept {
  token: string;
  /** Monotonic milliseconds from which it is not used any more. */
  endsAt: number;
  /** Monotonic milliseconds from which a new one is asked for. */
  renewAt: number;
}

const REQUEST_TIMEOUT_MS = 10_000;
const RETRY_MS = 5_000;
const EARLY_MS = 300_000;
/** Room for the call that carries it, and for clocks that differ. */
const END_MARGIN_MS = 30_000;

/** Others may wait for the same promise, so it is left alone when one of them goes. */
async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: gone, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([promise, gone]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
