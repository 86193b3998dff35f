/**
 * Bodies of image calls: edits with sixteen references of 8 MB, and responses with four pictures of 12 MB in base64.
 */
import { deflateSync } from "node:zlib";
import { pngChunk, pngHeader, pngOf } from "../../test/support/pictures.ts";

export const IMAGE_MODEL = "bench-image";

const REFERENCES = 16;
/** Edge of a square noise picture. With three bytes per pixel, the picture has 8 MB. */
const REFERENCE_EDGE = 1632;
const PICTURES = 4;
/** A picture with this edge has 9 MB, which are 12 MB in base64. */
const PICTURE_EDGE = 1731;
const SMALL_EDGE = 16;
const BOUNDARY = "bench-edge";
const PROMPT = "put them side by side";

export interface UploadBody {
  contentType: string;
  bytes: Buffer;
}

export function formBody(): UploadBody {
  const picture = pictureOf(REFERENCE_EDGE);
  const field = (name: string, value: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file = Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="image[]"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n`,
  );
  const files = Array.from({ length: REFERENCES }, () => [file, picture, Buffer.from("\r\n")]).flat();
  const texts = Buffer.from(field("model", IMAGE_MODEL) + field("prompt", PROMPT));
  const bytes = Buffer.concat([texts, ...files, Buffer.from(`--${BOUNDARY}--\r\n`)]);
  return { contentType: `multipart/form-data; boundary=${BOUNDARY}`, bytes };
}

export function jsonBody(): UploadBody {
  const url = `data:image/png;base64,${pictureOf(REFERENCE_EDGE).toString("base64")}`;
  const images = Array.from({ length: REFERENCES }, () => url);
  const bytes = Buffer.from(JSON.stringify({ model: IMAGE_MODEL, prompt: PROMPT, images }));
  return { contentType: "application/json", bytes };
}

/** Returns a request for as many pictures as a large response contains. */
export function requestBody(delivery: "url" | "b64_json"): UploadBody {
  const request = { model: IMAGE_MODEL, prompt: PROMPT, n: PICTURES, response_format: delivery };
  return { contentType: "application/json", bytes: Buffer.from(JSON.stringify(request)) };
}

/** Returns the vendor's response. A large request gets one small picture, a small request gets four large pictures. */
export function responseBody(isLarge: boolean): string {
  const picture = pictureOf(isLarge ? PICTURE_EDGE : SMALL_EDGE).toString("base64");
  const data = Array.from({ length: isLarge ? PICTURES : 1 }, () => ({ b64_json: picture }));
  const facts = { size: "1024x1024", quality: "high", output_format: "png", background: "opaque" };
  return JSON.stringify({ created: 1_790_000_000, ...facts, data });
}

/** Returns a PNG of noise, which no encoder can compress. */
function pictureOf(edge: number): Buffer {
  const rowBytes = 3 * edge + 1;
  // The noise repeats at a distance that is too large for the encoder to find.
  const rows = Buffer.alloc(rowBytes * edge, crypto.getRandomValues(new Uint8Array(65_536)));
  // The first byte of a row is the number of its filter; 0 means no filter.
  for (let at = 0; at < rows.length; at += rowBytes) rows[at] = 0;
  const pixels = pngChunk("IDAT", deflateSync(rows));
  return pngOf([pngHeader(edge, edge, 2), pixels, pngChunk("IEND", Buffer.alloc(0))]);
}
