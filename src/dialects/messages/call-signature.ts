import { openSignature, sealSignature, type Signature } from "../conversation/signature.ts";

const OF_CALL = "gw-call-";

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
