import { pipeline, Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { GatewayError } from "../domain/gateway-error.ts";

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
} as const;

const MIB = 1024 * 1024;

/** Refuses a body whose declared length is over the limit, before a byte of it is read. */
export function requireLength({ headers }: Request, maxBytes: number): void {
  if (Number(headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/** The error for a body over its route's limit. */
export function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError("payload_too_large", `The body may have at most ${maxBytes / MIB} MiB.`);
}

/** True when the body has no content encoding. */
export function isPlain({ headers }: Request): boolean {
  const encoding = headers.get("content-encoding");
  return encoding === null || encoding.trim().toLowerCase() === "identity";
}

/**
 * The body without its content encoding, decoded while it arrives. Throws a `GatewayError` for an unknown encoding,
 * and while reading when the bytes do not match it. The reader bounds the decoded size.
 */
export function decodedBody(request: Request): AsyncIterable<Uint8Array> {
  const body = request.body ?? Readable.from([]);
  if (isPlain(request)) return body;
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (isKnown(encoding)) return decode(body, encoding);
  const message = "Send the body without Content-Encoding, or with gzip, deflate, br or zstd.";
  throw new GatewayError("unsupported_media_type", message);
}

async function* decode(
  body: AsyncIterable<Uint8Array>,
  encoding: keyof typeof DECODERS,
): AsyncGenerator<Uint8Array> {
  const decoder = DECODERS[encoding]();
  // An error of either stream ends the loop below.
  pipeline(Readable.from(body), decoder, () => {});
  try {
    yield* decoder;
  } catch (cause) {
    const message = "The body does not match its Content-Encoding.";
    throw new GatewayError("invalid_request_body", message, { cause });
  }
}

function isKnown(encoding: string): encoding is keyof typeof DECODERS {
  return Object.hasOwn(DECODERS, encoding);
}
