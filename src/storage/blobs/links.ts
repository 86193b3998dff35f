import { createHmac, timingSafeEqual } from "node:crypto";
import type { Links } from "../../gateway/ports.ts";
import type { Clock } from "../../lib/clock.ts";
import { isBlobName } from "./name.ts";

/**
 * Signed, time-limited links: `{base}/files/{name}?exp={unix seconds}&sig={base64url}`. The signature covers name
 * and expiry and is compared as text, so that no second spelling of it is valid.
 */
export function createLinks({ secrets, lifetimeSeconds, longestSeconds, clock }: LinkSettings): Links {
  requireSecrets(secrets());
  return {
    sign(base, name, hours) {
      const [current] = requireSecrets(secrets());
      const seconds = hours
        ? Math.min(Math.round(hours * SECONDS_PER_HOUR), longestSeconds)
        : lifetimeSeconds;
      const expires = String(Math.floor(clock.now() / 1000) + seconds);
      const signature = signatureOf(current, name, expires);
      return `${base.replace(/(?<!\/)\/+$/, "")}/files/${name}?exp=${expires}&sig=${signature}`;
    },

    check(name, expires, signature) {
      if (!isBlobName(name) || !expires || !signature || !EXPIRY.test(expires)) return "invalid";
      const isSigned = secrets().some((secret) => isSame(signatureOf(secret, name, expires), signature));
      if (!isSigned) return "invalid";
      return clock.now() < Number(expires) * 1000 ? "valid" : "expired";
    },
  };
}

interface LinkSettings {
  /** Returns the secrets at this moment: the first signs, all of them verify. */
  secrets(): readonly string[];
  /** Of a link for which no hours are named. */
  lifetimeSeconds: number;
  /** Of any other: how long pictures are kept. */
  longestSeconds: number;
  clock: Clock;
}

const SECONDS_PER_HOUR = 3600;
const MIN_SECRET = 32;
const EXPIRY = /^[1-9]\d{0,11}$/;

function requireSecrets(secrets: readonly string[]): [string, ...string[]] {
  const [current, ...older] = secrets;
  if (!current || secrets.some((secret) => secret.length < MIN_SECRET))
    throw new RangeError(`a link secret has at least ${MIN_SECRET} characters`);
  return [current, ...older];
}

function signatureOf(secret: string, name: string, expires: string): string {
  return createHmac("sha256", secret).update(`file link 1\n${name}\n${expires}`).digest("base64url");
}

function isSame(wanted: string, given: string): boolean {
  const [left, right] = [Buffer.from(wanted), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}
