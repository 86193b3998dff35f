import type { HeaderReader, ImageHeader } from "../header-reader.ts";

/** Reads a GIF header block by block, until a second picture or the end (GIF89a specification, sections 18 to 27). */
export async function readGif(reader: HeaderReader): Promise<ImageHeader> {
  const screen = await reader.bytes(6, 7);
  const walk: Walk = {
    width: screen.getUint16(0, true),
    height: screen.getUint16(2, true),
    frames: 0,
    hasAlpha: false,
  };
  let offset: number | null = 13 + colourTableBytes(screen.getUint8(4));
  while (offset !== null && walk.frames < 2) offset = await readBlock(reader, offset, walk);
  return { format: "gif", ...walk, frames: Math.max(1, walk.frames) };
}

interface Walk {
  width: number;
  height: number;
  frames: number;
  hasAlpha: boolean;
}

const EXTENSION = 0x21;
const PICTURE = 0x2c;
const GRAPHIC_CONTROL = 0xf9;

/**
 * Reads the block at `offset` and adds its information to `walk`. Returns the offset of the next block, or null when
 * there is no next block.
 */
async function readBlock(reader: HeaderReader, offset: number, walk: Walk): Promise<number | null> {
  const kind = (await reader.peek(offset, 1))?.getUint8(0);
  if (kind === EXTENSION) {
    const head = await reader.peek(offset, 4);
    if (!head) return null;
    const label = head.getUint8(1);
    if (label === GRAPHIC_CONTROL && head.getUint8(3) & 1) walk.hasAlpha = true;
    return await skipSubBlocks(reader, offset + 2);
  }
  const picture = kind === PICTURE ? await reader.peek(offset + 1, 9) : null;
  if (!picture) return null;
  walk.frames += 1;
  // A picture may extend beyond the screen. Decoders then enlarge the canvas.
  walk.width = Math.max(walk.width, picture.getUint16(0, true) + picture.getUint16(4, true));
  walk.height = Math.max(walk.height, picture.getUint16(2, true) + picture.getUint16(6, true));
  return await skipSubBlocks(reader, offset + 11 + colourTableBytes(picture.getUint8(8)));
}

async function skipSubBlocks(reader: HeaderReader, from: number): Promise<number | null> {
  let offset = from;
  for (;;) {
    const length = (await reader.peek(offset, 1))?.getUint8(0);
    if (length === undefined) return null;
    offset += 1 + length;
    if (length === 0) return offset;
  }
}

/** Returns the number of bytes of a colour table. `packed` is the field that declares the table. */
function colourTableBytes(packed: number): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0;
}
