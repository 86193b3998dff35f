import type { ByteCursor } from "../byte-cursor.ts";
import { textAt, UnreadableImageError } from "../header-reader.ts";

/**
 * PNG: every chunk up to `IEND` with its checksum, which proves the compressed pixels as well. Bytes after the end are
 * ignored. Source: PNG specification, third edition, section 5.3.
 */
export async function walkPng(cursor: ByteCursor): Promise<void> {
  cursor.advance(SIGNATURE_BYTES);
  for (;;) {
    const head = await cursor.take(8);
    if (!head) throw cutOff();
    const length = head.getUint32(0);
    const type = textAt(head, 4, 4);
    let checksum = Bun.hash.crc32(new Uint8Array(head.buffer, head.byteOffset + 4, 4));
    for await (const piece of cursor.pieces(length)) checksum = Bun.hash.crc32(piece, checksum);
    const stored = await cursor.take(4);
    if (!stored) throw cutOff();
    // Decoders skip an ancillary chunk that is damaged; its type starts with a small letter.
    if (stored.getUint32(0) !== checksum && /^[A-Z]/.test(type))
      throw new UnreadableImageError("is damaged: a checksum is wrong");
    if (type === "IEND") return;
  }
}

const SIGNATURE_BYTES = 8;

function cutOff(): UnreadableImageError {
  return new UnreadableImageError("is cut off");
}
