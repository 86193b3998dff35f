import { openSignature, sealSignature, type Signature } from "../../conversation/signature.ts";

/**
 * Stands for a signature where a history was made by another model, so that the vendor does not check it (Gemini API,
 * thought signatures).
 */
export const UNCHECKED = "skip_thought_signature_validator";

/** A signature, and whether it is all there is of a piece of reasoning. */
export interface Signed {
  signature: Signature;
  isRedacted?: true;
}

const FOREIGN = /^(redacted )?(gw-[^]*)$/;

/** A signature as `thoughtSignature`, which is base64 of bytes: that of another protocol is encoded once more. */
export function writeSignature({ signature, isRedacted }: Signed): string {
  const sealed = sealSignature(signature, "native");
  if (signature.dialect === "native") return sealed;
  return Buffer.from(`${isRedacted ? "redacted " : ""}${sealed}`).toString("base64");
}

/** The signature in a part that a caller sends back; null for none. */
export function readSignature(value: unknown): Signed | null {
  if (typeof value !== "string" || value === "" || value === UNCHECKED) return null;
  const [, redacted, sealed] = FOREIGN.exec(Buffer.from(value, "base64").toString()) ?? [];
  if (sealed === undefined) return { signature: { dialect: "native", value } };
  return { signature: openSignature(sealed, "native"), ...(redacted !== undefined && { isRedacted: true }) };
}
