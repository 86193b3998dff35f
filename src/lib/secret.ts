/**
 * Secrets of gateway keys: `gk_`, 32 random letters and digits, and 6 more that are the CRC-32 of all before,
 * so that a mistyped or invented key is told from a real one without asking any store.
 */
export function newSecret(): string {
  const body = PREFIX + randomText(RANDOM_LENGTH);
  return body + checksum(body);
}

const PREFIX = "gk_";
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const BODY_LENGTH = PREFIX.length + RANDOM_LENGTH;
const PREFIX_LENGTH = 8;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SHAPE = /^gk_[0-9A-Za-z]{38}$/;
const FIXED_SHAPE = /^gk_[0-9A-Za-z_-]{20,200}$/;

/** Whether a text is a secret that `newSecret` may have made; no store is asked. */
export function isWellFormedSecret(text: string): boolean {
  return SHAPE.test(text) && text.endsWith(checksum(text.slice(0, BODY_LENGTH)));
}

/** Whether a text may be fixed as a key by the operator: `gk_` and at least 20 URL-safe characters. */
export function isFixableSecret(text: string): boolean {
  return FIXED_SHAPE.test(text);
}

/**
 * The test for the door: true for well-formed secrets and for the one the operator fixed, whose checksum
 * may not be ours.
 */
export function secretTest(fixedSecret: string | null): (text: string) => boolean {
  const fixedHash = fixedSecret === null ? null : hashSecret(fixedSecret);
  return (text) => isWellFormedSecret(text) || (fixedHash !== null && hashSecret(text) === fixedHash);
}

/** What is stored in place of a secret: its SHA-256 in lower-case hex. */
export function hashSecret(secret: string): string {
  return Bun.CryptoHasher.hash("sha256", secret, "hex");
}

/** First characters of a secret, enough to tell keys apart and too few to use. */
export function secretPrefix(secret: string): string {
  return secret.slice(0, PREFIX_LENGTH);
}

/** Random letters and digits, each equally likely; also used for generated passwords. */
export function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      // Bytes from the last, incomplete round of 62 would favour the first letters.
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
