import { deflateSync } from "node:zlib";

/* Functions that build small pictures and headers byte by byte. */

export type Pixel = (
  x: number,
  y: number,
) => readonly [red: number, green: number, blue: number, alpha: number];

/** Makes a PNG of colour type 6, or 2 without alpha. `chunks` follow `IHDR`. */
export function makePng(
  width: number,
  height: number,
  {
    pixel = gradient,
    hasAlpha = true,
    chunks = [],
  }: { pixel?: Pixel; hasAlpha?: boolean; chunks?: Buffer[] } = {},
): Buffer<ArrayBuffer> {
  const channels = hasAlpha ? 4 : 3;
  const rows = Buffer.alloc((width * channels + 1) * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      rows.set(pixel(x, y).slice(0, channels), y * (width * channels + 1) + 1 + x * channels);
  return pngOf([
    pngHeader(width, height, hasAlpha ? 6 : 2),
    ...chunks,
    pngChunk("IDAT", deflateSync(rows)),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Returns the colour at a position of an opaque gradient. */
export function gradient(x: number, y: number): readonly [number, number, number, number] {
  return [(x * 7) & 255, (y * 5) & 255, (x * y) & 255, 255];
}

export function pngOf(chunks: Buffer[]): Buffer<ArrayBuffer> {
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), ...chunks]);
}

export function pngHeader(width: number, height: number, colourType: number, depth = 8): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([depth, colourType], 8);
  return pngChunk("IHDR", data);
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, "latin1");
  chunk.set(data, 8);
  chunk.writeUInt32BE(Bun.hash.crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

/** Makes an Exif segment with only an orientation. It belongs directly after a JPEG's first two bytes. */
export function exifSegment(orientation: number): Buffer {
  const tiff = Buffer.from("49492a0008000000010012010300010000000000000000000000", "hex");
  tiff.writeUInt16LE(orientation, 18);
  return jpegSegment(0xe1, Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff]));
}

/** Makes Exif data with only an orientation, as a short or a long value. */
export function exifData(orientation: number, { isLong = false, isBig = false } = {}): Buffer {
  const bytes = Buffer.alloc(26);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  bytes.write(isBig ? "MM" : "II");
  view.setUint16(2, 42, !isBig);
  view.setUint32(4, 8, !isBig);
  view.setUint16(8, 1, !isBig);
  view.setUint16(10, 0x0112, !isBig);
  view.setUint16(12, isLong ? 4 : 3, !isBig);
  view.setUint32(14, 1, !isBig);
  if (isLong) view.setUint32(18, orientation, !isBig);
  else view.setUint16(18, orientation, !isBig);
  return bytes;
}

/** Converts a simple WebP to an extended one, with Exif after its picture. */
export function webpWithExif(
  webp: Uint8Array,
  width: number,
  height: number,
  exif: Buffer,
): Buffer<ArrayBuffer> {
  const extended = Buffer.alloc(10);
  extended[0] = 0x08;
  extended.writeUIntLE(width - 1, 4, 3);
  extended.writeUIntLE(height - 1, 7, 3);
  const chunks = [riffChunk("VP8X", extended), webp.subarray(12), riffChunk("EXIF", exif)];
  return riffChunk("RIFF", Buffer.concat([Buffer.from("WEBP"), ...chunks]));
}

export function jpegSegment(code: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, code, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** Inserts segments directly after a JPEG's first marker. */
export function withSegments(jpeg: Uint8Array, ...segments: Buffer[]): Buffer<ArrayBuffer> {
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}

/** Makes a GIF of single-coloured frames, optionally with the looping extension. */
export function makeGif(
  width: number,
  height: number,
  frames: number,
  isLooping = false,
): Buffer<ArrayBuffer> {
  const size = Buffer.alloc(4);
  size.writeUInt16LE(width, 0);
  size.writeUInt16LE(height, 2);
  const frame = Buffer.concat([Buffer.from("2c00000000", "hex"), size, Buffer.from("000202440100", "hex")]);
  return Buffer.concat([
    Buffer.from("GIF89a"),
    size,
    Buffer.from("800000000000ffffff", "hex"),
    isLooping ? Buffer.from("21ff0b4e45545343415045322e300301000000", "hex") : Buffer.alloc(0),
    ...Array.from({ length: frames }, () => frame),
    Buffer.from(";"),
  ]);
}

/** Makes a 24-bit BMP without content. With a negative height, rows are stored from the top. */
export function makeBmp(width: number, height: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(54 + ((width * 3 + 3) & ~3) * Math.abs(height));
  bytes.write("BM");
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(height, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  return bytes;
}

/** Makes a TIFF header with its directory at the end, optionally big-endian. */
export function makeTiff(
  width: number,
  height: number,
  { isBig = false, next = 0 } = {},
): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(8 + 100 + 2 + 24 + 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  bytes.write(isBig ? "MM" : "II");
  view.setUint16(2, 42, !isBig);
  view.setUint32(4, 108, !isBig);
  view.setUint16(108, 2, !isBig);
  [width, height].forEach((value, index) => {
    view.setUint16(110 + index * 12, 256 + index, !isBig);
    view.setUint16(112 + index * 12, 4, !isBig);
    view.setUint32(114 + index * 12, 1, !isBig);
    view.setUint32(118 + index * 12, value, !isBig);
  });
  view.setUint32(134, next, !isBig);
  return bytes;
}

/** Makes a grey TIFF of 16 by 16 pixels, dark on the left and light on the right. With `isZeroWhite`, 0 is white. */
export function makeGreyTiff(depth: 1 | 2 | 4 | 8 | 16, isZeroWhite: boolean): Buffer<ArrayBuffer> {
  const size = 16;
  const most = 2 ** depth - 1;
  const dark = Math.floor(most / 4);
  const row = Array.from({ length: size }, (_, x) => {
    const value = x < size / 2 ? dark : most - dark;
    return (isZeroWhite ? most - value : value).toString(2).padStart(depth, "0");
  });
  const packed = row.join("").match(/.{8}/g) ?? [];
  const data = Buffer.from(
    Array.from({ length: size }, () => packed.map((byte) => Number.parseInt(byte, 2))).flat(),
  );
  const fields = {
    256: size,
    257: size,
    258: depth,
    259: 1,
    262: isZeroWhite ? 0 : 1,
    273: 8,
    277: 1,
    278: size,
  };
  const entries = [...Object.entries(fields), [279, data.length] as const].map(([tag, value]) => {
    const entry = Buffer.alloc(12);
    entry.writeUInt16BE(Number(tag), 0);
    entry.writeUInt16BE(4, 2);
    entry.writeUInt32BE(1, 4);
    entry.writeUInt32BE(value, 8);
    return entry;
  });
  const head = Buffer.from("MM\0*\0\0\0\0", "latin1");
  head.writeUInt32BE(8 + data.length, 4);
  return Buffer.concat([head, data, Buffer.from([0, entries.length]), ...entries, Buffer.alloc(4)]);
}

/**
 * Makes the boxes of a HEIC or AVIF still picture: tiles of 512 pixels, a larger picture derived from the tiles, and
 * the final picture, which is cropped to `clip` and rotated.
 */
export function makeHeif(
  major: string,
  width: number,
  height: number,
  { rotation = 0, clip = [width, height], isLong = false }: HeifOptions = {},
): Buffer<ArrayBuffer> {
  const size = (w: number, h: number) => {
    const data = Buffer.alloc(12);
    data.writeUInt32BE(w, 4);
    data.writeUInt32BE(h, 8);
    return box("ispe", data);
  };
  const aperture = Buffer.alloc(32);
  [clip[0] * 2, 2, clip[1], 1].forEach((value, index) => aperture.writeUInt32BE(value, index * 4));
  const container = box(
    "ipco",
    size(512, 512),
    size(width + 64, height + 64),
    size(width, height),
    box("clap", aperture),
    box("irot", Buffer.from([rotation])),
  );
  // Writes numbers of items and properties in their short or long form.
  const id = (value: number) => Buffer.from(isLong ? [0, 1, 0, value] : [0, value]);
  const uses = (item: number, ...indexes: number[]) => [
    id(item),
    Buffer.from([indexes.length, ...indexes.flatMap((index) => (isLong ? [0x80, index] : [index | 0x80]))]),
  ];
  const flags = Buffer.from([Number(isLong), 0, 0, Number(isLong)]);
  const associations = [flags, Buffer.from([0, 0, 0, 3]), ...uses(1, 1), ...uses(3, 2), ...uses(2, 3, 4, 5)];
  const meta = box(
    "meta",
    Buffer.alloc(4),
    box("hdlr", Buffer.alloc(24)),
    box("pitm", flags, id(2)),
    box("iprp", container, box("ipma", ...associations)),
  );
  return Buffer.concat([
    box("ftyp", Buffer.from(`${major}\0\0\0\0mif1`)),
    meta,
    box("mdat", Buffer.alloc(64)),
  ]);
}

interface HeifOptions {
  /** Number of quarter turns. */
  rotation?: number;
  clip?: readonly [width: number, height: number];
  isLong?: boolean;
}

function box(type: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length, 0);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, body]);
}

/** Makes an extended WebP: a canvas, flags, and a lossless picture header inside. */
export function makeExtendedWebp(
  canvas: readonly [number, number],
  inside: readonly [number, number],
  flags = 0,
): Buffer<ArrayBuffer> {
  const extended = Buffer.alloc(10);
  extended[0] = flags;
  extended.writeUIntLE(canvas[0] - 1, 4, 3);
  extended.writeUIntLE(canvas[1] - 1, 7, 3);
  const lossless = Buffer.alloc(20);
  lossless[0] = 0x2f;
  lossless.writeUInt32LE((inside[0] - 1) | ((inside[1] - 1) << 14), 1);
  const chunks = Buffer.concat([
    riffChunk("VP8X", extended),
    riffChunk("ICCP", Buffer.alloc(9001)),
    riffChunk("VP8L", lossless),
  ]);
  return riffChunk("RIFF", Buffer.concat([Buffer.from("WEBP"), chunks]));
}

function riffChunk(type: string, data: Buffer): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(8);
  head.write(type, 0, "latin1");
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

/** A blob that counts the bytes of the slices that were taken from it. */
export class WatchedBlob extends Blob {
  bytesRead = 0;

  override slice(start = 0, end = this.size): Blob {
    const part = super.slice(start, end);
    this.bytesRead += part.size;
    return part;
  }
}
