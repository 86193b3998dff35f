import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { ImageFormat } from "../../domain/model.ts";
import type { Links } from "../../gateway/delivery/stored-blobs.ts";
import type { Clock } from "../../lib/clock.ts";

/**
 * Signed, time-limited links: `{base}/files/{name}?exp={unix seconds}&sig={base64url}`. The signature covers name and
 * expiry and is compared as text, so that no other spelling of the signature is valid.
 */
export function createLinks(settings: LinkSettings): Links {
  const { secrets, lifetimeSeconds, longestSeconds, clock } = settings;
  requireSecrets(secrets());
  const secondsOf = (hours: number | null) =>
    hours ? Math.min(Math.round(hours * SECONDS_PER_HOUR), longestSeconds) : lifetimeSeconds;
  return {
    sign(base, name, hours = null) {
      const [current] = requireSecrets(secrets());
      const expires = String(Math.floor(clock.now() / 1000) + secondsOf(hours));
      const signature = signatureOf(current, name, expires);
      return `${base.replace(/(?<!\/)\/+$/, "")}/files/${name}?exp=${expires}&sig=${signature}`;
    },

    check(name, expires, signature) {
      if (!isBlobName(name) || !expires || !signature || !EXPIRY.test(expires)) return "invalid";
      const isSigned = secrets().some((secret) => isSame(signatureOf(secret, name, expires), signature));
      if (!isSigned) return "invalid";
      return clock.now() < Number(expires) * 1000 ? "valid" : "expired";
    },

    isNew(expires) {
      for (const hours of settings.hoursInUse()) {
        const ageSeconds = clock.now() / 1000 - (Number(expires) - secondsOf(hours));
        if (Math.abs(ageSeconds) < NEW_SECONDS) return true;
      }
      return false;
    },
  };
}

interface LinkSettings {
  /** Returns the secrets in force: the first one signs links, and all of them verify links. */
  secrets(): readonly string[];
  /** Lifetime of a link for which the caller specifies no hours. */
  lifetimeSeconds: number;
  /** Maximum lifetime of links with specified hours: the time for which pictures are kept. */
  longestSeconds: number;
  /** The lifetimes of links, in hours, that organizations use; null is the default lifetime. */
  hoursInUse(): Iterable<number | null>;
  clock: Clock;
}

const SECONDS_PER_HOUR = 3600;
/** Maximum age at which a link counts as new, and maximum time by which the signing machine's clock may be ahead. */
const NEW_SECONDS = 5 * 60;
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

/** Returns a new name that nobody can guess: 128 random bits and the format's extension, such as `3f…9a.png`. */
export function newBlobName(format: ImageFormat | "bin"): string {
  return `${randomBytes(16).toString("hex")}.${EXTENSIONS[format]}`;
}

/**
 * True for a text that can be the name of a stored blob. Other texts must not get into a path, a key or a signature.
 */
export function isBlobName(name: string): boolean {
  return NAME.test(name);
}

export function mimeTypeOf(name: string): string {
  if (name.endsWith(".bin")) return "application/octet-stream";
  return name.endsWith(".png") ? "image/png" : name.endsWith(".jpg") ? "image/jpeg" : "image/webp";
}

const EXTENSIONS: Readonly<Record<ImageFormat | "bin", string>> = {
  png: "png",
  jpeg: "jpg",
  webp: "webp",
  bin: "bin",
};
const NAME = /^[0-9a-f]{32}\.(?:png|jpg|webp|bin)$/;
