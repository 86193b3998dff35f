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

/** What a body over its route's limit answers. */
export function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError("payload_too_large", `The body may have at most ${maxBytes / MIB} MiB.`);
}

/** True when the body comes as it is meant. */
export function isPlain({ headers }: Request): boolean {
  const encoding = headers.get("content-encoding");
  return encoding === null || encoding.trim().toLowerCase() === "identity";
}

/**
 * A body as it is meant, decoded while it arrives. Throws a `GatewayError` for an encoding that is not known, and
 * on the way when the bytes do not match it. How much of it is too much is for the reader to say.
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
  // The error of either stream ends the loop below; there is nothing else to do at the end.
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
