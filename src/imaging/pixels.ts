import { promisify } from "node:util";
import { deflate, inflate } from "node:zlib";
import { yieldToEventLoop } from "../lib/waiting.ts";
import { MAX_PIXELS } from "./codec.ts";
import { type Chunk, joinedData, readChunks, writeChunks } from "./png/chunks.ts";

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
  const data = { type: "IDAT", data: await pack(rows, { level: 0 }) };
  const png = writeChunks([...before, data, ...after]);
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
    width: Buffer.from(chunks[0]?.data ?? []).readUInt32BE(0),
    rows: await unpack(joinedData(chunks)),
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

const BYTES_PER_PIXEL = 4;
const BYTES_PER_SLICE = 2 ** 20;

const pack: (bytes: Buffer, options: { level: number }) => Promise<Buffer> = promisify(deflate);
const unpack: (bytes: Uint8Array) => Promise<Buffer> = promisify(inflate);

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
