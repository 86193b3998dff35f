import { BlockList, isIP } from "node:net";

/** A list of addresses and networks, IPv4 and IPv6. */
export interface AddressList {
  has(address: string): boolean;
}

/** Reads addresses and CIDR notations. Throws a `RangeError` that names the first invalid entry. */
export function parseAddressList(entries: readonly string[]): AddressList {
  if (entries.length === 0) return { has: () => false };
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix, ...rest] = entry.trim().split("/");
    const plain = plainAddress(address);
    const version = isIP(plain);
    const widest = version === 4 ? 32 : 128;
    const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= widest);
    if (version === 0 || rest.length > 0 || !isPrefix)
      throw new RangeError(`not an address or CIDR: ${entry}`);
    const family = version === 4 ? "ipv4" : "ipv6";
    list.addSubnet(plain, prefix === undefined ? widest : Number(prefix), family);
  }
  return {
    has(address) {
      const plain = plainAddress(address);
      const version = isIP(plain);
      return version !== 0 && list.check(plain, version === 4 ? "ipv4" : "ipv6");
    },
  };
}

/** Returns an address without the IPv4-mapped prefix: `::ffff:10.0.0.1` becomes `10.0.0.1`. */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address;
}

/**
 * Returns the network that one client controls: for IPv4 the address itself, for IPv6 its first 64 bits. Pass 48 for
 * the largest network that one site usually has.
 */
export function networkOf(address: string, bits: 48 | 64 = 64): string {
  const plain = plainAddress(address);
  if (!plain.includes(":")) return plain;
  const [left = "", right = ""] = plain.split("::");
  const before = left.split(":").filter(Boolean);
  const after = right.split(":").filter(Boolean);
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return `${[...before, ...zeros, ...after].slice(0, bits / 16).join(":")}::/${bits}`;
}
