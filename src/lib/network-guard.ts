import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { parseAddressList, type AddressList } from "./cidr.ts";
import { embeddedIpv4, isPublicAddress } from "./safe-fetch/address.ts";

/**
 * Link-local addresses and addresses of cloud metadata services. They are never allowed, because from these addresses a
 * program can read the machine's credentials.
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

/** Returns all addresses of a name. Rejects when there are none. */
type Lookup = (name: string) => Promise<readonly string[]>;

/** Thrown when an address is not allowed. No connection was made. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
  readonly code = "AddressRefused";
  constructor(readonly hostname: string) {
    super("the address is not allowed");
  }
}

/**
 * Allows the public internet and the configured networks, but never link-local or metadata addresses. Callers must
 * connect to a checked address and not to the name: the name may later resolve to another address (DNS rebinding).
 */
export class NetworkGuard {
  /** Equal names mean that the same addresses are allowed. */
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
   * `AddressRefused` when one of the addresses is not allowed. Errors of the resolver are thrown unchanged.
   */
  async addressesOf(hostname: string): Promise<readonly string[]> {
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    const addresses = isIP(host) === 0 ? await this.#lookup(host) : [host];
    if (!addresses.every((address) => this.allows(address))) throw new AddressRefused(host);
    return addresses.toSorted((one, other) => isIP(one) - isIP(other));
  }

  allows(address: string): boolean {
    const forms = [address, embeddedIpv4(address)].filter((form) => form !== null);
    if (address.includes("%") || forms.some((form) => NEVER.has(form))) return false;
    return isPublicAddress(address) || forms.some((form) => this.#networks.has(form));
  }
}

/** Uses the system's resolver, so that names resolve as in every other program on this machine. */
async function lookupAll(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
