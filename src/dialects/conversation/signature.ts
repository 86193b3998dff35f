import type { TextDialectName } from "../name.ts";

/** A vendor's proof that it wrote reasoning or a tool call. Only vendors of the dialect `dialect` can verify it. */
export interface Signature {
  dialect: TextDialectName;
  value: string;
}

const CARRIED = /^gw-(chat|messages|responses|native)-([^]*)$/;

/** Returns a signature for a caller of the dialect `caller`. A prefix names the signature's dialect if it differs. */
export function sealSignature({ dialect, value }: Signature, caller: TextDialectName): string {
  return dialect === caller ? value : `gw-${dialect}-${value}`;
}

/** Reads a signature that a caller of the dialect `caller` sends back. */
export function openSignature(text: string, caller: TextDialectName): Signature {
  const [, dialect, value] = CARRIED.exec(text) ?? [];
  return dialect === undefined || value === undefined
    ? { dialect: caller, value: text }
    : { dialect: dialect as TextDialectName, value };
}
