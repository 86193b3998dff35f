const BYTES = 12;

/** An id for something that lives in this browser only; `crypto.randomUUID` is for secure pages alone. */
export function newLocalId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
