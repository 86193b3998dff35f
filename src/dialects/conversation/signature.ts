import type { TextDialectName } from "../name.ts";

/** A vendor's proof that a piece of reasoning or a call is its own. It means something to that protocol alone. */
export interface Signature {
  dialect: TextDialectName;
  value: string;
}

const CARRIED = /^gw-(chat|messages|responses|native)-([^]*)$/;

/** The text by which a caller of `dialect` keeps a signature: its own as it is, others with the name of theirs. */
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
