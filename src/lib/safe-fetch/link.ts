import { isIP } from "node:net";
import { isPublicAddress } from "./address.ts";

/** Maximum length of a link. Signed links to object storage have thousands of characters. */
export const MAX_LINK_CHARACTERS = 8192;
const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/;
const PRIVATE_SUFFIX =
  /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|arpa|test|invalid|onion)$/;

/** Ports of internal services. They are refused even at a public address. */
const INTERNAL_PORTS: ReadonlySet<string> = new Set(
  Object.values({
    remoteAccess: "21 22 23 512 513 514 3389 5900 5901 5985 5986",
    mail: "25 110 143 465 587 993 995",
    names: "53 853 389 636 3268 3269",
    files: "69 111 137 138 139 445 548 873 2049",
    databases: "1433 1521 3306 5432 5433 6432 5984 7000 7001 8086 9042 9160 27017 27018 27019 28015",
    searchAndCaches: "6379 6380 9200 9300 11211 16379 26379",
    queues: "1883 4222 4369 5671 5672 6650 8883 9092 9093 15672 25672 61613 61616",
    clusters: "2181 2375 2376 2377 2379 2380 4001 6443 8300 8301 8302 8500 8501 8600 10250 10255 10257 10259",
    secretsAndMetrics: "8200 8201 9090 9091 9093 9100 9115",
  }).flatMap((ports) => ports.split(" ")),
);

/** A link that was allowed. It is parsed once; later steps do not read the caller's text again. */
export interface Link {
  url: URL;
  /** The host as a name, or as an address without brackets. */
  host: string;
  isAddress: boolean;
}

/**
 * Reads a link that a caller chose. It must use `https`, and have neither credentials nor the port of an internal
 * service. Its host must be a full public name or a public address. Returns null for every other link. `base` is the
 * address to which a redirect is relative.
 */
export function readLink(text: string, base?: URL): Link | null {
  const link = readAddress(text, base);
  if (!link) return null;
  const { host, isAddress } = link;
  const isPublic = isAddress ? isPublicAddress(host) : NAME.test(host) && !PRIVATE_SUFFIX.test(host);
  return isPublic ? link : null;
}

/** Reads a link as `readLink` does, but allows any host. */
export function readAddress(text: string, base?: URL): Link | null {
  if (text.length > MAX_LINK_CHARACTERS || hasForbiddenCharacter(text)) return null;
  const url = URL.parse(text, base?.href);
  if (!url || url.protocol !== "https:" || INTERNAL_PORTS.has(url.port)) return null;
  if (url.username !== "" || url.password !== "") return null;
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  return { url, host, isAddress: isIP(host) !== 0 };
}

/** True when a link has spaces, control characters or backslashes. Parsers of links read these differently. */
function hasForbiddenCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code === 0x7f || code === 0x5c) return true;
  }
  return false;
}
