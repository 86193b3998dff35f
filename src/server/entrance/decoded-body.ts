import { pipeline, Readable, type Transform } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";
import { GatewayError } from "../../domain/gateway-error.ts";
import { declaredLength } from "./body.ts";
import type { BodyLimits } from "./body.ts";
import type { AuthenticatedExchange } from "../http-exchange.ts";
import { ownValue } from "../../lib/own-value.ts";

const MIB = 1024 * 1024;

/** Smaller bodies are read whole, because a stream costs more than all their other processing. */
const MAX_SMALL_BYTES = 64 * 1024;

/** The request with its sender. */
export type BodyExchange = Pick<AuthenticatedExchange, "request" | "principal" | "network">;

/** A decoder and the memory of its window. */
interface Decoder {
  create(): Transform;
  windowBytes: number;
}

const GZIP: Decoder = { create: () => createGunzip(), windowBytes: 64 * 1024 };

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: GZIP,
  "x-gzip": GZIP,
  deflate: { create: () => createInflate(), windowBytes: 64 * 1024 },
  br: { create: () => createBrotliDecompress(), windowBytes: 16 * MIB },
  // Every decoder must support 8 MiB (RFC 8878, 3.1.1.1.2); a frame may request far more.
  zstd: {
    create: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } }),
    windowBytes: 8 * MIB,
  },
};

/** True when the body has no content encoding. */
export function isPlain({ headers }: Request): boolean {
  const encoding = headers.get("content-encoding");
  return encoding === null || encoding.trim().toLowerCase() === "identity";
}

/**
 * Yields the body without its content encoding, decoded while it arrives; at most `maxBytes` before decoding. Throws a
 * `GatewayError` for an unknown encoding, an exhausted quota, a body that is too large, too slow or in too many chunks,
 * and bytes that do not match the encoding. The reader bounds the decoded size.
 */
export async function* decodedBody(
  exchange: BodyExchange,
  limits: BodyLimits,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const { request } = exchange;
  using _body = limits.bodies.open(exchange, 1);
  const length = isPlain(request) ? declaredLength(request) : null;
  if (length !== null && length <= MAX_SMALL_BYTES) {
    yield new Uint8Array(await limits.arrived(request.arrayBuffer(), length));
    return;
  }
  const body = limits.arriving(request, maxBytes);
  if (isPlain(request)) {
    yield* body;
    return;
  }
  const decoder = requireDecoder(request);
  using _window = limits.decoders.open(exchange, decoder.windowBytes);
  yield* decode(body, decoder.create());
}

function requireDecoder({ headers }: Request): Decoder {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  const decoder = ownValue(DECODERS, encoding);
  if (decoder) return decoder;
  const message = "Send the body without Content-Encoding, or with one of gzip, deflate, br and zstd.";
  throw new GatewayError("unsupported_media_type", message);
}

async function* decode(body: AsyncIterable<Uint8Array>, decoder: Transform): AsyncGenerator<Uint8Array> {
  // An error of either stream ends the loop below.
  pipeline(Readable.from(body), decoder, () => {});
  try {
    yield* decoder;
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const message = "The body does not match its Content-Encoding.";
    throw new GatewayError("invalid_request_body", message, { cause });
  }
}
