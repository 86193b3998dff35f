import { VENDOR_NAMES } from "../../domain/vendor-names.ts";

/** Returns the parts of a vendor's message that callers may read; undefined when no part is readable. */
type Sanitize = (message: string) => string | undefined;

const MAX_MESSAGE = 500;
const SENTENCE_END = /(?<=[.!?])\s+/;

/** Patterns of text that identifies the vendor: addresses, keys or parts of keys, ids, and long random words. */
const TELLTALE = [
  /:\/\/|\bwww\.|[\w-]\.(com|ai|cn|net|org|io|dev|app|cloud|co|eu|us)\b/i,
  // Hosts of the operator's own network.
  /\blocalhost\b|[\w-]\.(internal|local|lan|corp|svc|home|intranet)\b/i,
  /\b\d{1,3}(\.\d{1,3}){3}\b/,
  /\S@\S/,
  /\bsk-|\bbearer\b|\bapi[- ]?key\b|\*{3,}/i,
  /\b(req|org|proj|chatcmpl|resp|trace)[_-][\w-]{4,}/i,
  /\brequest[ _-]?id\b/i,
  /(?<!\S)(?=\S*\d)\S*?[A-Za-z0-9+/_-]{28}/,
];

/**
 * Returns a function for a channel's messages. The function removes each whole sentence with a key, an address, an id
 * or the name of a vendor. Other sentences stay readable.
 */
export function createSanitizer(secrets: readonly string[], hostname: string): Sanitize {
  const label = hostname.split(".").at(-2) ?? "";
  const names = /^[a-z][a-z-]{2,}$/.test(label) ? [...VENDOR_NAMES, label] : VENDOR_NAMES;
  const vendor = new RegExp(`\\b(${names.join("|")})`, "i");
  const isTelltale = (sentence: string) =>
    secrets.some((each) => sentence.includes(each)) ||
    vendor.test(sentence) ||
    TELLTALE.some((pattern) => pattern.test(sentence));
  return (message) => {
    const plain = message
      .slice(0, 8 * MAX_MESSAGE)
      // With control characters, a vendor could forge lines in a caller's log.
      .replace(/\p{Cc}+/gu, " ")
      .trim();
    const kept = plain.split(SENTENCE_END).filter((sentence) => !isTelltale(sentence));
    const text = kept.join(" ").slice(0, MAX_MESSAGE);
    return text === "" ? undefined : text;
  };
}
