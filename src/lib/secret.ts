/**
 * Makes the secret of a gateway key: `gk_`, 32 random letters and digits, and 6 more that encode the CRC-32 of all
 * characters before them. Mistyped and invented keys are thus recognized without a query.
 */
export function newSecret(): string {
  return newChecked(PREFIX);
}

/** Makes an admin token. It has the same form as a key's secret, but begins with `ga_`. */
export function newAdminToken(): string {
  return newChecked(ADMIN_PREFIX);
}

function newChecked(prefix: string): string {
  const body = prefix + randomText(RANDOM_LENGTH);
  return body + checksum(body);
}

const PREFIX = "gk_";
const ADMIN_PREFIX = "ga_";
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const BODY_LENGTH = PREFIX.length + RANDOM_LENGTH;
const PREFIX_LENGTH = 8;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SHAPE = /^gk_[0-9A-Za-z]{38}$/;
const ADMIN_SHAPE = /^ga_[0-9A-Za-z]{38}$/;
const FIXED_SHAPE = /^gk_[0-9A-Za-z_-]{20,200}$/;

/** True when a text has the form that `newSecret` makes. */
export function isWellFormedSecret(text: string): boolean {
  return SHAPE.test(text) && hasChecksum(text);
}

/** True when a text has the form that `newAdminToken` makes. */
export function isWellFormedAdminToken(text: string): boolean {
  return ADMIN_SHAPE.test(text) && hasChecksum(text);
}

function hasChecksum(text: string): boolean {
  return text.endsWith(checksum(text.slice(0, BODY_LENGTH)));
}

/** Minimum length of a member's password. */
export const MIN_PASSWORD_LENGTH = 12;

/** True for a text that the operator may configure as a key's secret: `gk_` and 20 to 200 URL-safe characters. */
export function isFixableSecret(text: string): boolean {
  return FIXED_SHAPE.test(text);
}

/**
 * Returns the first check of authentication. It accepts well-formed secrets, and the secret that the operator
 * configured, which needs no checksum.
 */
export function secretTest(fixedSecret: string | null): (text: string) => boolean {
  const fixedHash = fixedSecret === null ? null : hashSecret(fixedSecret);
  return (text) => isWellFormedSecret(text) || (fixedHash !== null && hashSecret(text) === fixedHash);
}

/** Returns the SHA-256 of a secret in lower-case hex. This hash is stored instead of the secret. */
export function hashSecret(secret: string): string {
  return Bun.CryptoHasher.hash("sha256", secret, "hex");
}

/** Returns the first characters of a secret. They let people recognize a key, but cannot be used as the key. */
export function secretPrefix(secret: string): string {
  return secret.slice(0, PREFIX_LENGTH);
}

/** Makes random letters and digits, each with the same probability. Also used for generated passwords. */
export function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      // Bytes from 248 on are skipped, because with them the first eight characters of the alphabet would be more
      // frequent.
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

function checksum(body: string): string {
  let rest = Bun.hash.crc32(body);
  let text = "";
  for (let position = 0; position < CHECKSUM_LENGTH; position++) {
    text = ALPHABET[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
