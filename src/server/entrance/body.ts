import { pipeline, Readable, type Transform } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";
import { GatewayError } from "../../domain/gateway-error.ts";
import { DeadlineTimer } from "../../lib/deadline-timer.ts";
import { detachBuffer } from "../../lib/detach-buffer.ts";
import { ownValue } from "../../lib/json.ts";
import { yieldToEventLoop } from "../../lib/waiting.ts";
import type { AuthenticatedExchange } from "../http-exchange.ts";
import { type QuotaShare, ResourceQuota } from "./resource-quota.ts";
import { SmallChunks } from "./small-chunks.ts";

/**
 * Maximum bytes of a body that `readJsonBody` reads at once. A larger body is read in pieces, so that a slow client is
 * noticed before the end. Reading a megabyte in pieces doubles the cost of a request, but few bodies are larger.
 */
const MAX_SMALL_BYTES = 1024 * 1024;
const FIRST_BYTES = 16 * 1024;

/** Reads a JSON body and returns its decoded bytes. The encoded and the decoded size are at most `maxBytes`. */
export async function readJsonBody(
  exchange: BodyExchange,
  limits: BodyLimits,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const { request } = exchange;
  requireJson(request.headers.get("content-type"));
  requireLength(request, maxBytes);
  const length = isPlain(request) ? declaredLength(request) : null;
  using memory = limits.memory.open(exchange, length ?? FIRST_BYTES);
  if (length !== null && length <= MAX_SMALL_BYTES) {
    using _ = limits.bodies.open(exchange, 1);
    return new Uint8Array(await limits.arrived(request.arrayBuffer(), length));
  }
  const buffer = new GrowingBuffer(length ?? FIRST_BYTES, maxBytes, memory);
  for await (const piece of decodedBody(exchange, limits, maxBytes)) {
    buffer.append(piece);
    const yielded = yieldToEventLoop();
    if (yielded) await yielded;
  }
  return buffer.bytes();
}

/** Collects bytes in one buffer that doubles when full. A list would need over a hundred bytes for a one-byte piece. */
class GrowingBuffer {
  #buffer: Buffer<ArrayBuffer>;
  #length = 0;
  readonly #maxBytes: number;
  readonly #memory: QuotaShare;

  /** `byteLength` is the initial size of the buffer, which `memory` has already counted. */
  constructor(byteLength: number, maxBytes: number, memory: QuotaShare) {
    this.#buffer = Buffer.allocUnsafeSlow(byteLength);
    this.#maxBytes = maxBytes;
    this.#memory = memory;
  }

  append(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    if (length > this.#buffer.length)
      this.#grow(Math.min(Math.max(length, 2 * this.#buffer.length), this.#maxBytes));
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(byteLength: number): void {
    this.#memory.add(byteLength - this.#buffer.length);
    const grown = Buffer.allocUnsafeSlow(byteLength);
    this.#buffer.copy(grown, 0, 0, this.#length);
    detachBuffer(this.#buffer);
    this.#buffer = grown;
  }
}

/** Throws for a content type other than JSON in UTF-8. A missing content type counts as JSON. */
export function requireJson(contentType: string | null): void {
  if (contentType === null || contentType === "application/json") return;
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset);
  if (type === "application/json" && isUtf8) return;
  const message = isUtf8 ? "Send the body as `application/json`." : "Send the body in UTF-8.";
  throw new GatewayError("unsupported_media_type", message);
}

const MIB = 1024 * 1024;

/** Minimum average speed of a body after the grace time. Even slow mobile networks are twice as fast. */
const MIN_BYTES_PER_SECOND = 16 * 1024;

/** Limits the resources and the time for reading bodies. A process has one `BodyLimits`. */
export class BodyLimits {
  /** Limits the number of bodies being read. Thousands of clients of one key may connect at the same time. */
  readonly bodies = new ResourceQuota("bodies being sent", {
    key: 2_000,
    organization: 4_000,
    process: 8_000,
  });
  /** Limits the bytes of bodies that are read into memory. */
  readonly memory = new ResourceQuota("memory for bodies being sent", {
    key: 128 * MIB,
    organization: 256 * MIB,
    process: 512 * MIB,
  });
  /** Limits the memory that decoders of content encodings may allocate. */
  readonly decoders = new ResourceQuota("memory for compressed bodies being sent", {
    key: 128 * MIB,
    organization: 256 * MIB,
    process: 512 * MIB,
  });
  readonly #timer = new DeadlineTimer();
  readonly #graceMs: number;

  /** A body may take `graceMs`, plus a time that depends on its size. */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /**
   * Yields a body of at most `maxBytes` as it arrives, and joins small chunks. Throws when the body is larger or its
   * average speed is too low. Time in which the reader requests no piece is not counted.
   */
  async *arriving(request: Request, maxBytes: number): AsyncGenerator<Uint8Array> {
    const smallChunks = declaredLength(request) === null ? new SmallChunks() : null;
    let received = 0;
    let waitedMs = 0;
    let since = performance.now();
    for await (const piece of request.body ?? []) {
      const now = performance.now();
      waitedMs += now - since;
      since = now;
      received += piece.length;
      if (received > maxBytes) throw tooLarge(maxBytes);
      if (waitedMs > this.#timeFor(received)) throw tooSlow();
      if (smallChunks?.keep(piece)) continue;
      const joined = smallChunks?.take();
      if (joined) yield joined;
      yield piece;
      since = performance.now();
    }
    const joined = smallChunks?.take();
    if (joined) yield joined;
  }

  /** Waits for a body of a declared length, but no longer than such a body may take. */
  arrived<Body>(body: Promise<Body>, byteLength: number): Promise<Body> {
    const { promise, resolve, reject } = Promise.withResolvers<Body>();
    const deadline = this.#timer.set(this.#timeFor(byteLength), () => reject(tooSlow()));
    body.then(
      (whole) => {
        this.#timer.clear(deadline);
        resolve(whole);
      },
      (error: unknown) => {
        this.#timer.clear(deadline);
        reject(error);
      },
    );
    return promise;
  }

  #timeFor(byteLength: number): number {
    return this.#graceMs + (byteLength / MIN_BYTES_PER_SECOND) * 1000;
  }
}

function tooSlow(): GatewayError {
  const message = `The body arrived too slowly: send at least ${MIN_BYTES_PER_SECOND / 1024} KiB a second.`;
  return new GatewayError("invalid_request_body", message, { closesConnection: true });
}

const KIB = 1024;

/** Throws when the declared length of a body exceeds the limit, before the body is read. */
export function requireLength(request: Request, maxBytes: number): void {
  if ((declaredLength(request) ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/** Returns the `Content-Length`; null when it is absent, NaN for an invalid value, which every route refuses. */
export function declaredLength({ headers }: Pick<Request, "headers">): number | null {
  const length = headers.get("content-length");
  if (length === null) return null;
  return /^\d+$/.test(length) ? Number(length) : Number.NaN;
}

/** Returns the error for a body over its route's limit. */
export function tooLarge(maxBytes: number): GatewayError {
  const kib = maxBytes / KIB;
  const size = kib < KIB ? `${kib} KiB` : `${kib / KIB} MiB`;
  return new GatewayError("payload_too_large", `The body may have at most ${size}.`);
}

/** Maximum bytes of a body that `decodedBody` reads whole. For so few bytes, a stream would cost too much. */
const MAX_WHOLE_BYTES = 64 * 1024;

type BodyExchange = Pick<AuthenticatedExchange, "request" | "principal" | "network">;

/** A decoder of a content encoding, and the memory for its window. */
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
  // RFC 8878 (3.1.1.1.2) requires windows up to 8 MiB. Larger windows are refused: a frame may request far more memory.
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
 * Yields the body and decodes it while it arrives. The encoded body may have at most `maxBytes`; the reader limits the
 * decoded size. Throws a `GatewayError` for an unknown encoding, an exhausted quota, bytes that do not match the
 * encoding, and a body that is too large, too slow or in too many chunks.
 */
export async function* decodedBody(
  exchange: BodyExchange,
  limits: BodyLimits,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const { request } = exchange;
  using _body = limits.bodies.open(exchange, 1);
  const length = isPlain(request) ? declaredLength(request) : null;
  if (length !== null && length <= MAX_WHOLE_BYTES) {
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
  // The callback does nothing, because an error of either stream also ends the loop below.
  pipeline(Readable.from(body), decoder, () => {});
  try {
    yield* decoder;
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const message = "The body does not match its Content-Encoding.";
    throw new GatewayError("invalid_request_body", message, { cause });
  }
}
