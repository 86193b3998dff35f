const BYTES = 12;

/** Returns an id for an object that only this browser has. `crypto.randomUUID` would work only on secure pages. */
export function newLocalId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
