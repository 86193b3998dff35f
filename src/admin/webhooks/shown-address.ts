import { isAtLeast } from "../roles.ts";
import { accessOf, type Caller } from "../sign-in/signed-in.ts";
import { MASK } from "../channels/schema.ts";

/**
 * The address of an endpoint for somebody who reads it: its path is a secret at many receivers, such as chat services, and
 * is shown to those who may change the endpoint.
 */
export function shownAddress<Address extends string | null>(
  caller: Caller,
  address: Address,
): Address | string {
  return address === null || isAtLeast(accessOf(caller).role, "admin") ? address : maskedAddress(address);
}

/** An address with its host alone, where it has more. */
export function maskedAddress(address: string): string {
  const url = URL.parse(address);
  if (!url) return MASK;
  return url.pathname === "/" && url.search === "" ? address : `${url.origin}/${MASK}`;
}

/** True for an address that was read with a mask. */
export function isMasked(address: string): boolean {
  return address.includes(MASK) || address.includes(encodeURI(MASK));
}
