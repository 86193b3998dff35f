import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib";
import { promisify } from "node:util";
import { GatewayError } from "../domain/gateway-error.ts";

type Decoder = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip),
  "x-gzip": promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip),
  deflate: promisify<Uint8Array, { maxOutputLength: number }, Buffer>(inflate),
  br: promisify<Uint8Array, { maxOutputLength: number }, Buffer>(brotliDecompress),
  zstd: promisify<Uint8Array, { maxOutputLength: number }, Buffer>(zstdDecompress),
};

const MIB = 1024 * 1024;

/** The bytes of a JSON body, decoded, never more than `mostBytes` before or after decoding. */
export async function readJsonBody(request: Request, mostBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  requireJson(request.headers.get("content-type"));
  const bytes = await readBytes(request, mostBytes);
  const encoding = request.headers.get("content-encoding");
  return encoding === null ? bytes : decode(bytes, encoding, mostBytes);
}

/** Refuses a content type other than JSON in UTF-8; none at all is taken for JSON. */
export function requireJson(contentType: string | null): void {
  if (contentType === null || contentType === "application/json") return;
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset);
  if (type === "application/json" && isUtf8) return;
  const message = isUtf8 ? "Send the body as `application/json`." : "Send the body in UTF-8.";
  throw new GatewayError("unsupported_media_type", message);
}

async function readBytes(request: Request, mostBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const length = request.headers.get("content-length");
  if (length !== null) {
    if (Number(length) > mostBytes) throw tooLarge(mostBytes);
    return new Uint8Array(await request.arrayBuffer());
  }
  const pieces: Uint8Array[] = [];
  let total = 0;
  for await (const piece of request.body ?? []) {
    total += piece.length;
    if (total > mostBytes) throw tooLarge(mostBytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function decode(
  bytes: Uint8Array<ArrayBuffer>,
  encoding: string,
  mostBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const name = encoding.trim().toLowerCase();
  if (name === "identity") return bytes;
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (!decoder) {
    const message = "Send the body without Content-Encoding, or with gzip, deflate, br or zstd.";
    throw new GatewayError("unsupported_media_type", message);
  }
  try {
    return new Uint8Array(await decoder(bytes, { maxOutputLength: mostBytes }));
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(mostBytes);
    throw new GatewayError("invalid_request_body", "The body does not match its Content-Encoding.");
  }
}

function tooLarge(mostBytes: number): GatewayError {
  return new GatewayError("payload_too_large", `The body may have at most ${mostBytes / MIB} MiB.`);
}
