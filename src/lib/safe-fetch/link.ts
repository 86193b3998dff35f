import { isIP } from "node:net";
import { isPublicAddress } from "./address.ts";

const MAX_CHARACTERS = 2048;
const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/;
const PRIVATE_SUFFIX =
  /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|arpa|test|invalid|onion)$/;

/** A link that was allowed. Parsed once: nothing reads the caller's text again. */
export interface Link {
  url: URL;
  /** The host as a name, or as an address without brackets. */
  host: string;
  isAddress: boolean;
}

/**
 * Reads a link that a caller chose: `https`, default port, no credentials, a full public name or a public address.
 * Returns null for everything else. `base` is for redirects.
 */
export function readLink(text: string, base?: URL): Link | null {
  if (text.length > MAX_CHARACTERS || hasForbiddenCharacter(text)) return null;
  const url = URL.parse(text, base?.href);
  if (!url || url.protocol !== "https:" || url.port !== "") return null;
  if (url.username !== "" || url.password !== "") return null;
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  const isAddress = isIP(host) !== 0;
  const isAllowed = isAddress ? isPublicAddress(host) : NAME.test(host) && !PRIVATE_SUFFIX.test(host);
  return isAllowed ? { url, host, isAddress } : null;
}

/** Parsers of links disagree about spaces, control characters and backslashes. */
function hasForbiddenCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code === 0x7f || code === 0x5c) return true;
  }
  return false;
}
