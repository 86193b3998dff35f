import { GatewayError } from "../domain/gateway-error.ts";
import { MAX_EDGE, MAX_PIXELS } from "./codec.ts";
import {
  createHeaderReader,
  textAt,
  UnreadableImageError,
  type HeaderReader,
  type ImageHeader,
} from "./header-reader.ts";
import { readBmp } from "./headers/bmp.ts";
import { readGif } from "./headers/gif.ts";
import { isHeifBrand, readHeif } from "./headers/heif.ts";
import { readJpeg } from "./headers/jpeg.ts";
import { readPng } from "./headers/png.ts";
import { readTiff } from "./headers/tiff.ts";
import { readWebp } from "./headers/webp.ts";

/**
 * Reads the header of a caller's picture without decoding the picture. The first bytes decide the format; the file name
 * and the declared type are ignored. `name` appears in messages ("image 3"). Throws `invalid_image` when the bytes are
 * not a picture, or when the picture is animated or too large. The built-in codec is not used, because it reports
 * neither frames nor transparency.
 */
export async function sniffImage(image: Blob, param = "image", name = param): Promise<ImageHeader> {
  const header = await refusing({ param, name }, readImageHeader(image));
  const { width, height, frames } = header;
  const problem =
    frames > 1
      ? "is animated or has several pages; send a single still picture"
      : Math.max(width, height) > MAX_EDGE || width * height > MAX_PIXELS
        ? `is ${width}x${height} pixels; at most ${MAX_EDGE} on an edge and ${MAX_PIXELS / 1e6} megapixels are accepted`
        : null;
  if (problem) throw new GatewayError("invalid_image", `${name} ${problem}.`, { param });
  return header;
}

/**
 * Reads a picture's header without checking limits. Throws an `UnreadableImageError` when the bytes are not a picture.
 */
export async function readImageHeader(image: Blob): Promise<ImageHeader> {
  const reader = createHeaderReader(image);
  const head = await reader.peek(0, SIGNATURE_BYTES);
  const read = head
    ? FORMATS.find(({ matches }) => matches(textAt(head, 0, SIGNATURE_BYTES)))?.read
    : undefined;
  if (!read) throw new UnreadableImageError("is not a PNG, JPEG, WebP, GIF, BMP, TIFF, HEIC or AVIF picture");
  const header = await read(reader);
  if (header.width === 0 || header.height === 0) throw new UnreadableImageError("has no pixels");
  return header;
}

const SIGNATURE_BYTES = 12;

const FORMATS: readonly {
  matches(head: string): boolean;
  read(reader: HeaderReader): Promise<ImageHeader>;
}[] = [
  { matches: (head) => head.startsWith("\x89PNG\r\n\x1a\n"), read: readPng },
  { matches: (head) => head.startsWith("\xff\xd8\xff"), read: readJpeg },
  { matches: (head) => head.startsWith("RIFF") && head.endsWith("WEBP"), read: readWebp },
  { matches: (head) => /^GIF8[79]a/.test(head), read: readGif },
  { matches: (head) => head.slice(4, 8) === "ftyp" && isHeifBrand(head.slice(8)), read: readHeif },
  { matches: (head) => head.startsWith("II*\0") || head.startsWith("MM\0*"), read: readTiff },
  { matches: (head) => head.startsWith("BM"), read: readBmp },
];

/** Waits for `reading`. Turns an `UnreadableImageError` into an `invalid_image` error that names the picture. */
export async function refusing<Result>(
  { param, name }: { param: string; name: string },
  reading: Promise<Result>,
): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof UnreadableImageError)) throw error;
    throw new GatewayError("invalid_image", `${name} ${error.message}.`, { param, cause: error });
  }
}
