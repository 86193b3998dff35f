import { isIP } from "node:net";
import { parseAddressList, plainAddress } from "../cidr.ts";

/** Networks that are not public (IANA special-purpose registry), and addresses of cloud metadata services. */
const DENIED_V4 = parseAddressList([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]);

/**
 * Only global unicast addresses are public. The networks in `DENIED_V6` are in that range, but embed IPv4 addresses or
 * are reserved.
 */
const GLOBAL_V6 = parseAddressList(["2000::/3"]);
const DENIED_V6 = parseAddressList([
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "2620:4f:8000::/48",
  "3fff::/20",
]);

/** True when an address from a resolver or a URL is on the public internet. */
export function isPublicAddress(address: string): boolean {
  if (address.includes("%")) return false;
  const plain = plainAddress(address);
  if (plain !== address) return false;
  const version = isIP(address);
  if (version === 4) return !DENIED_V4.has(address);
  if (version !== 6) return false;
  return GLOBAL_V6.has(address) && !DENIED_V6.has(address) && isPublicTunnel(address);
}

/**
 * False for an ISATAP address with an inner IPv4 address that is not public. True for every other address. ISATAP puts
 * the inner address after the interface identifier 0000:5efe or 0200:5efe (RFC 5214, 6.1).
 */
function isPublicTunnel(address: string): boolean {
  const groups = readGroups(address);
  const [flags = 0, marker = 0, high = 0, low = 0] = groups.slice(4);
  if ((flags & 0xfdff) !== 0 || marker !== 0x5efe) return true;
  return isPublicAddress(dotted(high, low));
}

/** Returns the IPv4 address inside an IPv6 address (mapped, compatible, NAT64 or 6to4); null for any other address. */
export function embeddedIpv4(address: string): string | null {
  if (isIP(address) !== 6 || address.includes("%")) return null;
  const groups = readGroups(address);
  const isZero = (from: number, to: number): boolean => groups.slice(from, to).every((group) => group === 0);
  if (groups[0] === 0x2002) return dotted(groups[1], groups[2]);
  const isNat64 = groups[0] === 0x64 && groups[1] === 0xff9b && isZero(2, 6);
  const isMapped = isZero(0, 5) && (groups[5] === 0 || groups[5] === 0xffff);
  return isNat64 || isMapped ? dotted(groups[6], groups[7]) : null;
}

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** Returns the eight groups of an IPv6 address. The URL parser first brings the address into its normal form. */
function readGroups(address: string): number[] {
  const canonical = new URL(`https://[${address}]/`).hostname.slice(1, -1);
  const [front = "", back] = canonical.split("::");
  const head = front === "" ? [] : front.split(":");
  const tail = back === undefined || back === "" ? [] : back.split(":");
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
