import type { ByteCursor } from "../byte-cursor.ts";
import { UnreadableImageError } from "../header-reader.ts";

/**
 * JPEG: every segment and scan up to the end marker, which a cut file lacks. Within a scan, a zero follows each byte
 * of 255 that is no marker. Bytes after the end are ignored. Source: ITU-T T.81 annex B.
 */
export async function walkJpeg(cursor: ByteCursor): Promise<void> {
  cursor.advance(2);
  let hasScan = false;
  for (;;) {
    const code = await nextMarker(cursor);
    if (code === null) throw new UnreadableImageError("is cut off");
    if (code === END_OF_IMAGE) break;
    if (isStandalone(code)) continue;
    const length = (await cursor.take(2))?.getUint16(0) ?? 0;
    if (length < 2 || !cursor.advance(length - 2)) throw new UnreadableImageError("is cut off");
    if (code === START_OF_SCAN) hasScan = true;
  }
  if (!hasScan) throw new UnreadableImageError("is damaged: it has no picture");
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
const ESCAPED = 0;
const FILL = 0xff;

/** Returns the code of the next marker, in a scan or between segments; null at the end of the file. */
async function nextMarker(cursor: ByteCursor): Promise<number | null> {
  while (await cursor.seek(0xff, ESCAPED)) {
    let code = await cursor.byte();
    while (code === FILL) code = await cursor.byte();
    if (code !== ESCAPED) return code;
  }
  return null;
}

/** True for markers without a length: TEM, the restart markers and a repeated start. */
function isStandalone(code: number): boolean {
  return code === 0x01 || (code >= 0xd0 && code <= 0xd8);
}
