import type { TextDialectName } from "../name.ts";

/** Proof of a vendor that it wrote a piece of reasoning or a call. Only vendors of the same protocol can verify it. */
export interface Signature {
  dialect: TextDialectName;
  value: string;
}

const CARRIED = /^gw-(chat|messages|responses|native)-([^]*)$/;

/**
 * Returns a signature in the form for a caller of the dialect `caller`: unchanged if it has the same dialect, otherwise
 * with the name of its own dialect.
 */
export function sealSignature({ dialect, value }: Signature, caller: TextDialectName): string {
  return dialect === caller ? value : `gw-${dialect}-${value}`;
}

/** Returns the signature in a text that a caller of the dialect `caller` sends back. */
export function openSignature(text: string, caller: TextDialectName): Signature {
  const [, dialect, value] = CARRIED.exec(text) ?? [];
  return dialect === undefined || value === undefined
    ? { dialect: caller, value: text }
    : { dialect: dialect as TextDialectName, value };
}
