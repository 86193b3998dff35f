import type { ByteCursor } from "../byte-cursor.ts";
import { UnreadableImageError } from "../header-reader.ts";

/** GIF: every block up to the end of the first picture's data. Source: GIF89a specification, sections 15 to 27. */
export async function walkGif(cursor: ByteCursor): Promise<void> {
  const screen = await cursor.take(13);
  let isWhole = screen !== null && cursor.advance(colourTableBytes(screen.getUint8(10)));
  while (isWhole) {
    const kind = await cursor.byte();
    if (kind === PICTURE) {
      const picture = await cursor.take(9);
      isWhole = picture !== null && cursor.advance(colourTableBytes(picture.getUint8(8)) + 1);
      if (isWhole && (await skipData(cursor))) return;
      break;
    }
    isWhole = kind === EXTENSION && cursor.advance(1) && (await skipData(cursor));
  }
  throw new UnreadableImageError("is cut off");
}

const EXTENSION = 0x21;
const PICTURE = 0x2c;

/** Moves behind the next sub-blocks and the empty one that ends them. Returns false when they are cut off. */
async function skipData(cursor: ByteCursor): Promise<boolean> {
  for (;;) {
    const length = await cursor.byte();
    if (length === null || !cursor.advance(length)) return false;
    if (length === 0) return true;
  }
}

/** Returns the bytes of the colour table that a packed field declares. */
function colourTableBytes(packed: number): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0;
}
