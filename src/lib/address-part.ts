/**
 * Decodes a percent-encoded part of an address, such as the password. Throws a `RangeError` that contains nothing of the
 * part.
 */
export function decodeAddressPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RangeError('has a "%" that begins no escape: write "%25" for the sign itself');
  }
}
