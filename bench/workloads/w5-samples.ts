/**
 * Bodies of image calls: edits with sixteen references of 8 MB, and responses with four pictures of 12 MB of base64.
 */
export const IMAGE_MODEL = "bench-image";

const REFERENCES = 16;
const REFERENCE_BYTES = 8_000_000;
const PICTURES = 4;
const PICTURE_CHARACTERS = 12_000_000;
const BOUNDARY = "bench-edge";
const PROMPT = "put them side by side";

export interface UploadBody {
  contentType: string;
  bytes: Buffer;
}

export function formBody(): UploadBody {
  const picture = pictureOf(REFERENCE_BYTES);
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
  const url = `data:image/png;base64,${pictureOf(REFERENCE_BYTES).toString("base64")}`;
  const images = Array.from({ length: REFERENCES }, () => url);
  const bytes = Buffer.from(JSON.stringify({ model: IMAGE_MODEL, prompt: PROMPT, images }));
  return { contentType: "application/json", bytes };
}

/** A request for as many pictures as a large response has. */
export function requestBody(delivery: "url" | "b64_json"): UploadBody {
  const request = { model: IMAGE_MODEL, prompt: PROMPT, n: PICTURES, response_format: delivery };
  return { contentType: "application/json", bytes: Buffer.from(JSON.stringify(request)) };
}

/** The vendor's response: one small picture to a large request, four large ones to a small request. */
export function responseBody(isLarge: boolean): string {
  const picture = pictureOf(isLarge ? (PICTURE_CHARACTERS / 4) * 3 : 1000).toString("base64");
  const data = Array.from({ length: isLarge ? PICTURES : 1 }, () => ({ b64_json: picture }));
  const facts = { size: "1024x1024", quality: "high", output_format: "png", background: "opaque" };
  return JSON.stringify({ created: 1_790_000_000, ...facts, data });
}

/** A PNG with a valid header; its pixels are noise, which nothing decodes. */
function pictureOf(byteLength: number): Buffer {
  const picture = Buffer.alloc(byteLength, crypto.getRandomValues(new Uint8Array(65_536)));
  Buffer.from("89504e470d0a1a0a0000000d49484452000004000000040008060000007f1d2b83", "hex").copy(picture);
  picture.writeUInt32BE(byteLength - 33 - 8 - 4 - 12, 33);
  picture.write("IDAT", 37, "latin1");
  Buffer.from("0000000049454e44ae426082", "hex").copy(picture, byteLength - 12);
  return picture;
}
