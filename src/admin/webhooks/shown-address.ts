import { isAtLeast } from "../roles.ts";
import { accessOf, type Caller } from "../sign-in/signed-in.ts";
import { MASK } from "../channels/schema.ts";

/**
 * Returns the address of an endpoint as the caller may see it. Only a caller who may change the endpoint sees the path,
 * because the path is a secret at many receivers, such as chat services.
 */
export function shownAddress<Address extends string | null>(
  caller: Caller,
  address: Address,
): Address | string {
  return address === null || isAtLeast(accessOf(caller).role, "admin") ? address : maskedAddress(address);
}

/** Returns an address in which a mask replaces everything after the host. */
export function maskedAddress(address: string): string {
  const url = URL.parse(address);
  if (!url) return MASK;
  return url.pathname === "/" && url.search === "" ? address : `${url.origin}/${MASK}`;
}

/** True for an address that contains the mask. */
export function isMasked(address: string): boolean {
  return address.includes(MASK) || address.includes(encodeURI(MASK));
}
