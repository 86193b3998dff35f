/** Reads bytes of a TIFF structure; null past its end. */
export type TiffBytes = (offset: number, length: number) => Promise<DataView | null>;

/**
 * Returns the single short and long values of the first directory by tag; null when the structure is damaged. Source:
 * TIFF 6.0, section 2.
 */
export async function readDirectory(
  bytes: TiffBytes,
): Promise<{ values: Map<number, number>; hasNext: boolean } | null> {
  const head = await bytes(0, 8);
  if (!head) return null;
  const isLittle = head.getUint16(0) === LITTLE_ENDIAN;
  if (!isLittle && head.getUint16(0) !== BIG_ENDIAN) return null;
  const start = head.getUint32(4, isLittle);
  const count = (await bytes(start, 2))?.getUint16(0, isLittle) ?? 0;
  if (head.getUint16(2, isLittle) !== 42 || count === 0 || count > MAX_ENTRIES) return null;
  const values = new Map<number, number>();
  const entries = await bytes(start + 2, count * ENTRY_BYTES);
  if (!entries) return null;
  for (let at = 0; at < entries.byteLength; at += ENTRY_BYTES) {
    const type = entries.getUint16(at + 2, isLittle);
    const tag = entries.getUint16(at, isLittle);
    if (type === SHORT) values.set(tag, entries.getUint16(at + 8, isLittle));
    if (type === LONG) values.set(tag, entries.getUint32(at + 8, isLittle));
  }
  const next = await bytes(start + 2 + count * ENTRY_BYTES, 4);
  return { values, hasNext: (next?.getUint32(0) ?? 0) !== 0 };
}

const LITTLE_ENDIAN = 0x4949;
const BIG_ENDIAN = 0x4d4d;
const SHORT = 3;
const LONG = 4;
const ENTRY_BYTES = 12;
const MAX_ENTRIES = 200;
