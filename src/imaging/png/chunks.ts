/** A part of a PNG file: its type and its data, without length and checksum. */
export interface Chunk {
  type: string;
  data: Uint8Array;
}

/** Types of the PNG chunks that determine pixels and colours. */
export const DECODED: ReadonlySet<string> = new Set(
  "IHDR PLTE tRNS IDAT IEND iCCP sRGB gAMA cHRM cICP sBIT".split(" "),
);

/** Returns the chunks of a whole PNG as views of its bytes. */
export function readChunks(bytes: Uint8Array): Chunk[] {
  const png = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const chunks: Chunk[] = [];
  for (let offset = SIGNATURE.length; offset + 8 <= png.length;) {
    const end = offset + 8 + png.readUInt32BE(offset);
    const type = png.toString("latin1", offset + 4, offset + 8);
    chunks.push({ type, data: png.subarray(offset + 8, end) });
    if (type === "IEND") break;
    offset = end + 4;
  }
  return chunks;
}

/** Returns the data of all `IDAT` chunks as one array. */
export function joinedData(chunks: readonly Chunk[]): Uint8Array {
  const pieces = chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data);
  const [only, ...more] = pieces;
  return only && more.length === 0 ? only : Buffer.concat(pieces);
}

/** Returns the bytes of a PNG that consists of these chunks. */
export function writeChunks(chunks: readonly Chunk[]): Buffer<ArrayBuffer> {
  return Buffer.concat([SIGNATURE, ...chunks.flatMap(writeChunk)]);
}

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

function writeChunk({ type, data }: Chunk): Uint8Array[] {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length, 0);
  head.write(type, 4, "latin1");
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(Bun.hash.crc32(data, Bun.hash.crc32(head.subarray(4))), 0);
  return [head, data, checksum];
}
