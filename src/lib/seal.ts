import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/** A key of 32 bytes that encrypts stored secrets. Each encrypted text contains the id of its key. */
export interface MasterKey {
  /** Eight hexadecimal digits, which reveal nothing of the key. */
  id: string;
  bytes: Uint8Array;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ALGORITHM = "aes-256-gcm";
const SHAPE = /^v1\.([0-9a-f]{8})\.([\w-]{38,})$/;

/** Reads a master key from base64, in either alphabet; returns null unless it has 32 bytes. */
export function readMasterKey(text: string): MasterKey | null {
  const trimmed = text.trim();
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return null;
  const bytes = Buffer.from(trimmed.replaceAll("-", "+").replaceAll("_", "/"), "base64");
  return bytes.length === KEY_BYTES ? { id: idOf(bytes), bytes } : null;
}

/** Makes a new master key as base64. */
export function newMasterKey(): string {
  return randomBytes(KEY_BYTES).toString("base64");
}

/**
 * Encrypts a text with AES-256-GCM and a new random nonce of 96 bits. The result can be decrypted only with the same
 * `associated` data, so a text that was moved to another row or field is refused.
 */
export function seal({ id, bytes }: MasterKey, text: string, associated: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, bytes, nonce);
  cipher.setAAD(Buffer.from(associated));
  const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `v1.${id}.${sealed.toString("base64url")}`;
}

/** Returns the decrypted text, or null when none of the keys decrypts it. */
export function unseal(keys: readonly MasterKey[], sealed: string, associated: string): string | null {
  const [, id, content = ""] = SHAPE.exec(sealed) ?? [];
  const key = keys.find((each) => each.id === id);
  if (!key) return null;
  const bytes = Buffer.from(content, "base64url");
  const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, NONCE_BYTES));
  decipher.setAAD(Buffer.from(associated));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    return null;
  }
}

/** Returns the id of the key that sealed a text, or null when the text is not sealed. */
export function sealedBy(sealed: string): string | null {
  return SHAPE.exec(sealed)?.[1] ?? null;
}

function idOf(bytes: Uint8Array): string {
  return createHash("sha256").update("master key id").update(bytes).digest("hex").slice(0, 8);
}
