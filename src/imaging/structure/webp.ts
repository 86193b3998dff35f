import type { ByteCursor } from "../byte-cursor.ts";
import { textAt, UnreadableImageError } from "../header-reader.ts";

/**
 * WebP: the chunks fill exactly the length that the file's head names, and one of them is the picture. Source: WebP
 * container specification.
 */
export async function walkWebp(cursor: ByteCursor): Promise<void> {
  const riff = await cursor.take(12);
  const end = riff ? riff.getUint32(4, true) + 8 : Number.POSITIVE_INFINITY;
  let hasPicture = false;
  while (cursor.offset < end) {
    const head = await cursor.take(8);
    if (!head) throw new UnreadableImageError("is cut off");
    const length = head.getUint32(4, true);
    const type = textAt(head, 0, 4);
    const isLast = cursor.offset + length === end;
    // Writers often leave out the padding of the last chunk.
    if (!cursor.advance(isLast ? length : length + (length % 2)) || cursor.offset > end)
      throw new UnreadableImageError("is cut off");
    if (PICTURES.has(type)) hasPicture = true;
  }
  if (!hasPicture) throw new UnreadableImageError("is damaged: it has no picture");
}

const PICTURES: ReadonlySet<string> = new Set(["VP8 ", "VP8L", "ANMF"]);
