import type { TextDialectName } from "../name.ts";

/** A vendor's proof that a piece of reasoning or a call is its own. Only vendors of its protocol can verify it. */
export interface Signature {
  dialect: TextDialectName;
  value: string;
}

const CARRIED = /^gw-(chat|messages|responses|native)-([^]*)$/;

/**
 * Writes a signature for a caller of `dialect`: one of the same dialect unchanged, another one with the name of its
 * dialect.
 */
export function sealSignature({ dialect, value }: Signature, caller: TextDialectName): string {
  return dialect === caller ? value : `gw-${dialect}-${value}`;
}

/** The signature that a caller of `dialect` sends back. */
export function openSignature(text: string, caller: TextDialectName): Signature {
  const [, dialect, value] = CARRIED.exec(text) ?? [];
  return dialect === undefined || value === undefined
    ? { dialect: caller, value: text }
    : { dialect: dialect as TextDialectName, value };
}
