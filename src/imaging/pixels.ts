import { promisify } from "node:util";
import { deflate, inflate } from "node:zlib";
import { yieldToEventLoop } from "../lib/waiting.ts";
import { MAX_PIXELS } from "./codec.ts";

/**
 * Changes the pixels of a picture. `change` receives each row as red, green, blue and alpha bytes, and returns true
 * when it has changed the row. Returns the changed picture with its colour profile, or `picture` itself when no row was
 * changed. Other threads decode and compress. The loop over the rows regularly lets other tasks run.
 */
export async function changePixels(
  picture: Bun.Image,
  change: (row: Uint8Array) => boolean,
): Promise<Bun.Image> {
  const { width, rows, before, after } = await decodeRows(picture);
  if (!(await walkRows(rows, width, change))) return picture;
  const data = writeChunk({ type: "IDAT", data: await pack(rows, { level: 0 }) });
  const png = Buffer.concat([
    SIGNATURE,
    ...before.flatMap(writeChunk),
    ...data,
    ...after.flatMap(writeChunk),
  ]);
  return new Bun.Image(png, { maxPixels: MAX_PIXELS });
}

/**
 * Decodes a picture into rows. Copies the small chunks around the data, so that the memory of the encoded picture can
 * be freed before the picture is compressed again.
 */
async function decodeRows(picture: Bun.Image): Promise<Rows> {
  const chunks = readChunks(await picture.png({ compressionLevel: 0 }).buffer());
  const isPicture = ({ type }: Chunk) => type === "IDAT";
  const first = chunks.findIndex(isPicture);
  const copyOf = ({ type, data }: Chunk): Chunk => ({ type, data: Buffer.from(data) });
  return {
    width: chunks[0]?.data.readUInt32BE(0) ?? 0,
    rows: await unpack(joined(chunks.filter(isPicture).map(({ data }) => data))),
    before: chunks.slice(0, first).map(copyOf),
    after: chunks
      .slice(first)
      .filter((chunk) => !isPicture(chunk))
      .map(copyOf),
  };
}

interface Rows {
  width: number;
  rows: Buffer;
  /** The chunks before and after the rows. */
  before: Chunk[];
  after: Chunk[];
}

function joined(pieces: Buffer[]): Buffer {
  const [only, ...more] = pieces;
  return only && more.length === 0 ? only : Buffer.concat(pieces);
}

interface Chunk {
  type: string;
  data: Buffer;
}

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
const BYTES_PER_PIXEL = 4;
const BYTES_PER_SLICE = 2 ** 20;

const pack: (bytes: Buffer, options: { level: number }) => Promise<Buffer> = promisify(deflate);
const unpack: (bytes: Buffer) => Promise<Buffer> = promisify(inflate);

async function walkRows(rows: Buffer, width: number, change: (row: Uint8Array) => boolean): Promise<boolean> {
  const stride = 1 + width * BYTES_PER_PIXEL;
  const rowsPerSlice = Math.max(1, Math.floor(BYTES_PER_SLICE / stride));
  let isChanged = false;
  for (let start = 0; start < rows.length; start += stride * rowsPerSlice) {
    const end = Math.min(start + stride * rowsPerSlice, rows.length);
    for (let row = start; row < end; row += stride) {
      // An uncompressed PNG has no filters, so these bytes are the pixels themselves.
      if (rows[row] !== 0) throw new RangeError("a decoded row is filtered");
      if (change(rows.subarray(row + 1, row + stride))) isChanged = true;
    }
    await yieldToEventLoop();
  }
  return isChanged;
}

function readChunks(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let offset = SIGNATURE.length; offset < png.length;) {
    const end = offset + 8 + png.readUInt32BE(offset);
    chunks.push({
      type: png.toString("latin1", offset + 4, offset + 8),
      data: png.subarray(offset + 8, end),
    });
    offset = end + 4;
  }
  return chunks;
}

function writeChunk({ type, data }: Chunk): Buffer[] {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length, 0);
  head.write(type, 4, "latin1");
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(Bun.hash.crc32(data, Bun.hash.crc32(head.subarray(4))), 0);
  return [head, data, checksum];
}
