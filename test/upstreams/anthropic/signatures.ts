/** Returns the signature of a piece of thinking, which only this vendor can create. */
export function signatureOf(thinking: string): string {
  return `sig/${Bun.hash(thinking).toString(36)}+==`;
}

export function isSigned(thinking: string, signature: unknown): boolean {
  return signature === signatureOf(thinking);
}
