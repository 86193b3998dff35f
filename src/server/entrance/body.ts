import { GatewayError } from "../../domain/gateway-error.ts";
import { detachBuffer } from "../../lib/detach-buffer.ts";
import { yieldToEventLoop } from "../../lib/waiting.ts";
import { declaredLength, requireLength, tooLarge } from "./body-length.ts";
import type { BodyLimits } from "./body-limits.ts";
import { decodedBody, isPlain, type BodyExchange } from "./decoded-body.ts";
import type { QuotaShare } from "./resource-quota.ts";

/**
 * Larger bodies are read in pieces, so that a slow one is noticed before its end. For a prompt of a megabyte that costs
 * as much as all its other processing, and few are larger.
 */
const MAX_SMALL_BYTES = 1024 * 1024;
const FIRST_BYTES = 16 * 1024;

/** Reads a JSON body and returns its decoded bytes, at most `maxBytes` before and after decoding. */
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

/** One buffer that doubles when it is full: a list of one-byte pieces would take over a hundred bytes for each. */
class GrowingBuffer {
  #buffer: Buffer<ArrayBuffer>;
  #length = 0;
  readonly #maxBytes: number;
  readonly #memory: QuotaShare;

  /** `memory` already counts `byteLength` bytes. */
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

/** Throws for a content type other than JSON in UTF-8. A missing one counts as JSON. */
export function requireJson(contentType: string | null): void {
  if (contentType === null || contentType === "application/json") return;
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset);
  if (type === "application/json" && isUtf8) return;
  const message = isUtf8 ? "Send the body as `application/json`." : "Send the body in UTF-8.";
  throw new GatewayError("unsupported_media_type", message);
}
