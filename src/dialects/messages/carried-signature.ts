import { openSignature, sealSignature, type Signature } from "../conversation/signature.ts";

const CARRIED = "gw-";
const OF_CALL = "gw-call-";
const UNSIGNED = "gw-unsigned";

/** The text by which a caller keeps what another vendor has signed, or has left unsigned. */
export function sealThinking(signature: Signature | null): string {
  return signature ? sealSignature(signature, "messages") : UNSIGNED;
}

/** The signature that a caller sends back; null for none. */
export function openThinking(text: unknown): Signature | null {
  if (typeof text !== "string" || text === "" || text === UNSIGNED) return null;
  return openSignature(text, "messages");
}

/**
 * The protocol has no place for the signature of a call, which other vendors require back. A `redacted_thinking`
 * block before the call carries it, which clients return where it was.
 */
export function sealCallSignature(signature: Signature): string {
  return OF_CALL + sealSignature(signature, "messages");
}

/** The signature of the call that follows; null for data of the vendor's own. */
export function openCallSignature(data: string): Signature | null {
  return data.startsWith(OF_CALL) ? openSignature(data.slice(OF_CALL.length), "messages") : null;
}

/** Whether a block of thinking came from a vendor of another protocol: those of this one would refuse it. */
export function isForeign({ type, signature, data }: Readonly<Record<string, unknown>>): boolean {
  const seal = type === "thinking" ? signature : type === "redacted_thinking" ? data : undefined;
  return typeof seal === "string" && seal.startsWith(CARRIED);
}

/** Whether a request's text may hold such a block. */
export function mayHoldForeign(raw: string): boolean {
  return raw.includes(`"${CARRIED}`);
}
