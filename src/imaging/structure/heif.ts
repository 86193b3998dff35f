import { type ByteCursor, textAt, UnreadableImageError } from "../header-reader.ts";

/**
 * Checks that a HEIC or AVIF file contains the data of every item in its location table. Decoders do not fail for
 * missing tiles, but fill such tiles. Source: ISO/IEC 14496-12, sections 4.2 and 8.11.3.
 */
export async function walkHeif(cursor: ByteCursor): Promise<void> {
  const meta = await findMeta(cursor);
  const locations = childNamed(meta, "iloc", FULL_BOX_FLAGS);
  if (!locations) throw damaged();
  try {
    if (endOfItems(locations) > cursor.size) throw cutOff();
  } catch (error) {
    // The location table ends before its last item.
    if (error instanceof RangeError) throw damaged();
    throw error;
  }
}

const FULL_BOX_FLAGS = 4;
/** Maximum number of bytes of the box `meta`. Even the tables of a picture with thousands of tiles take fewer. */
const MAX_META_BYTES = 256 * 1024;

async function findMeta(cursor: ByteCursor): Promise<DataView> {
  for (;;) {
    const head = await cursor.take(8);
    if (!head) throw cutOff();
    const type = textAt(head, 4, 4);
    const short = head.getUint32(0);
    const long = short === 1 ? await cursor.take(8) : null;
    const length = long ? Number(long.getBigUint64(0)) - 16 : short - 8;
    if (type === "meta") {
      if (length > MAX_META_BYTES) throw damaged();
      const content = length < 0 ? null : await cursor.take(length);
      if (!content) throw cutOff();
      return content;
    }
    if (length < 0 || !cursor.advance(length)) throw cutOff();
  }
}

function childNamed(parent: DataView, type: string, from: number): DataView | null {
  for (let at = from; at + 8 <= parent.byteLength;) {
    const length = parent.getUint32(at);
    if (length < 8 || at + length > parent.byteLength) return null;
    if (textAt(parent, at + 4, 4) === type)
      return new DataView(parent.buffer, parent.byteOffset + at + 8, length - 8);
    at += length;
  }
  return null;
}

/** Returns the offset after the last byte of the items in this file. Throws a `RangeError` for a truncated table. */
function endOfItems(table: DataView): number {
  const fields = new Fields(table);
  const version = fields.next(1);
  fields.next(3);
  const sizes = fields.next(2);
  const [offsetSize, lengthSize, baseSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15];
  const indexSize = version === 0 ? 0 : sizes & 15;
  const count = fields.next(version < 2 ? 2 : 4);
  let end = 0;
  for (let item = 0; item < count; item += 1) {
    fields.next(version < 2 ? 2 : 4);
    const isInFile = (version === 0 ? 0 : fields.next(2) & 15) === 0;
    const isHere = fields.next(2) === 0;
    const base = fields.next(baseSize);
    for (let extents = fields.next(2); extents > 0; extents -= 1) {
      fields.next(indexSize);
      const last = base + fields.next(offsetSize) + fields.next(lengthSize);
      if (isInFile && isHere) end = Math.max(end, last);
    }
  }
  return end;
}

/** Reads consecutive unsigned numbers of up to eight bytes each. */
class Fields {
  #at = 0;
  readonly #view: DataView;

  constructor(view: DataView) {
    this.#view = view;
  }

  next(bytes: number): number {
    let value = 0;
    for (let index = 0; index < bytes; index += 1)
      value = value * 256 + this.#view.getUint8(this.#at + index);
    this.#at += bytes;
    return value;
  }
}

function cutOff(): UnreadableImageError {
  return new UnreadableImageError("is cut off");
}

function damaged(): UnreadableImageError {
  return new UnreadableImageError("has a damaged HEIC or AVIF header");
}
