import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { parseAddressList, type AddressList } from "./cidr.ts";
import { embeddedIpv4, isPublicAddress } from "./safe-fetch/address.ts";

/**
 * Link-local addresses and addresses of cloud metadata services, from which a program can read the machine's
 * credentials. They are never allowed.
 */
const NEVER = parseAddressList([
  "169.254.0.0/16",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "192.0.0.192/32",
  "fe80::/10",
  "fd00:ec2::254/128",
  "fd20:ce::254/128",
]);

/** Returns all addresses of a name; rejects when there are none. */
type Lookup = (name: string) => Promise<readonly string[]>;

/** An address was not allowed, so nothing was dialled. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
  readonly code = "AddressRefused";
  constructor(readonly hostname: string) {
    super("the address is not allowed");
  }
}

/**
 * Allows the public internet and the configured networks, but never link-local and metadata addresses. Callers must
 * connect to a checked address and not to the name, because the name may lead elsewhere afterwards (DNS rebinding).
 */
export class NetworkGuard {
  /** Guards with equal names allow the same addresses. */
  readonly name: string;
  readonly #networks: AddressList;
  readonly #lookup: Lookup;

  /** `networks` are addresses and CIDR notations. */
  constructor(networks: readonly string[], find: Lookup = lookupAll) {
    this.name = networks.join(" ");
    this.#networks = parseAddressList(networks);
    this.#lookup = find;
  }

  /**
   * Returns all addresses of a host, IPv4 first. The host is a name, or an address with or without brackets. Throws
   * `AddressRefused` when one of them is not allowed, and every error of the resolver.
   */
  async addressesOf(hostname: string): Promise<readonly string[]> {
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    const addresses = isIP(host) === 0 ? await this.#lookup(host) : [host];
    if (!addresses.every((address) => this.allows(address))) throw new AddressRefused(host);
    return addresses.toSorted((one, other) => isIP(one) - isIP(other));
  }

  /** Returns true for an address that is allowed. */
  allows(address: string): boolean {
    const forms = [address, embeddedIpv4(address)].filter((form) => form !== null);
    if (address.includes("%") || forms.some((form) => NEVER.has(form))) return false;
    return isPublicAddress(address) || forms.some((form) => this.#networks.has(form));
  }
}

/** Uses the system's resolver, so that hosts are found as by every other program of this machine. */
async function lookupAll(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
