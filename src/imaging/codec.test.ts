import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import { describe, expect, test } from "bun:test";
import {
  exifData,
  jpegSegment,
  makeBmp,
  makePng,
  pngChunk,
  webpWithExif,
  withSegments,
} from "../../test/support/pictures.ts";
import { decodeWhole, openPicture } from "./codec.ts";
import { changePixels } from "./pixels.ts";
import { readImageHeader } from "./sniff.ts";

/** Colours of the four corners: red and green at the top, blue and white at the bottom. */
const corners = (x: number, y: number) =>
  [
    [255, 0, 0, 255],
    [0, 255, 0, 255],
    [0, 0, 255, 255],
    [255, 255, 255, 255],
  ][(x < 24 ? 0 : 1) + (y < 16 ? 0 : 2)] as [number, number, number, number];
const png = makePng(48, 32, { pixel: corners });
const jpeg = await new Bun.Image(png).jpeg({ quality: 100 }).bytes();
const webp = await new Bun.Image(png).webp({ lossless: true }).bytes();

/** Returns the first letter of each corner's displayed colour. */
async function seen(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const blob = new Blob([bytes]);
  const header = await readImageHeader(blob);
  const rows: number[][] = [];
  await changePixels(await openPicture(blob, header), (row) => rows.push([...row]) < 0);
  expect([rows[0]!.length / 4, rows.length]).toEqual([header.width, header.height]);
  const at = (row: number[], x: number) => row.slice(x * 4, x * 4 + 3).map((value) => (value > 127 ? 1 : 0));
  const last = header.width - 1;
  const read = [at(rows[0]!, 0), at(rows[0]!, last), at(rows.at(-1)!, 0), at(rows.at(-1)!, last)];
  return read.map((colour) => NAMES[colour.join("")] ?? "?").join("");
}

const NAMES: Readonly<Record<string, string>> = { "100": "r", "010": "g", "001": "b", "111": "w" };

/** First letters of the corners' displayed colours, by orientation (Exif 2.32, section 4.6.4). */
const SEEN = ["rgbw", "grwb", "wbgr", "bwrg", "rbgw", "brwg", "wgbr", "gwrb"];

describe.each(SEEN.map((letters, index) => [index + 1, letters] as const))(
  "Exif orientation %i is applied to pixels and size",
  (orientation, letters) => {
    const named = (options = {}) =>
      jpegSegment(0xe1, Buffer.concat([Buffer.from("Exif\0\0", "latin1"), exifData(orientation, options)]));
    const other = jpegSegment(0xe1, Buffer.from("http://ns.adobe.com/xap/1.0/\0<x/>"));
    const frameEnd = jpeg.indexOf(0xc0, 2) + 1 + Buffer.from(jpeg).readUInt16BE(jpeg.indexOf(0xc0, 2) + 1);

    test.each([
      ["a JPEG", withSegments(jpeg, named())],
      ["a JPEG with another APP1 before it", withSegments(jpeg, other, named())],
      [
        "a JPEG with a second one behind it",
        withSegments(jpeg, named(), jpegSegment(0xe1, Buffer.from("Exif\0\0"))),
      ],
      ["a JPEG with a LONG value", withSegments(jpeg, named({ isLong: true }))],
      ["a JPEG in the other byte order", withSegments(jpeg, named({ isBig: true }))],
      [
        "a JPEG behind its frame header",
        Buffer.concat([jpeg.subarray(0, frameEnd), named(), jpeg.subarray(frameEnd)]),
      ],
      [
        "a PNG before its data",
        makePng(48, 32, { pixel: corners, chunks: [pngChunk("eXIf", exifData(orientation))] }),
      ],
      [
        "a PNG behind its data",
        Buffer.concat([png.subarray(0, -12), pngChunk("eXIf", exifData(orientation)), png.subarray(-12)]),
      ],
      ["a WebP", webpWithExif(webp, 48, 32, exifData(orientation))],
      [
        "a WebP whose Exif is named",
        webpWithExif(webp, 48, 32, Buffer.concat([Buffer.from("Exif\0\0"), exifData(orientation)])),
      ],
    ])("of %s", async (_, bytes) => {
      expect(await seen(bytes)).toBe(letters);
    });
  },
);

test("compressed text of a PNG is not unpacked", async () => {
  const text = pngChunk(
    "zTXt",
    Buffer.concat([Buffer.from("a\0\0"), deflateSync(Buffer.alloc(200_000_000))]),
  );
  const bomb = makePng(64, 64, { chunks: [text] });
  const before = process.memoryUsage.rss();
  const picture = await openPicture(new Blob([bomb]), await readImageHeader(new Blob([bomb])));
  await picture.resize(1, 1).png().bytes();
  expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
});

test("decoding whole pictures from files keeps none of their bytes", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "codec-")), "picture.bmp");
  await Bun.write(path, makeBmp(2000, 1600));
  const header = await readImageHeader(Bun.file(path));
  const decode = () => decodeWhole(Bun.file(path), header);
  await decode();
  const before = process.memoryUsage.rss();
  // Pictures that stayed in memory until the next garbage collection would take over 150 MB.
  for (let count = 0; count < 30; count += 1) {
    await decode();
    expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
  }
  rmSync(dirname(path), { recursive: true });
});

test("a PNG in a file is decoded without its text", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "codec-")), "picture.png");
  await Bun.write(path, makePng(64, 48, { chunks: [pngChunk("tEXt", Buffer.from("a\0b"))] }));
  const file = Bun.file(path);
  const picture = await openPicture(file, await readImageHeader(file));
  const decoded = await readImageHeader(new Blob([new Uint8Array(await picture.png().bytes())]));
  expect(decoded).toMatchObject({ width: 64, height: 48 });
  rmSync(dirname(path), { recursive: true });
});
