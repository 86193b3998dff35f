import { GatewayError } from "../../domain/gateway-error.ts";

/** A chunk with fewer bytes is small: receiving such a chunk takes longer than processing its bytes. */
const SMALL_BYTES = 512;
/** Maximum number of small chunks in a body, which take about 10 ms to receive. Clients send mostly larger ones. */
const MAX_SMALL_CHUNKS = 8_192;
/** Size of the buffer for joined chunks. It is small because no quota counts it. */
const JOINED_BYTES = 16 * 1024;

/**
 * Joins the small chunks of a body without a declared length, and refuses a body with too many small chunks. The
 * runtime makes a call for each chunk, so a megabyte in one-byte chunks would block the event loop for half a second.
 * When no read is pending, the runtime itself joins chunks, which then cannot be counted. Therefore the caller must
 * read on directly after a small chunk.
 */
export class SmallChunks {
  #count = 0;
  #joined = Buffer.alloc(0);
  #length = 0;

  /** Copies a small chunk and returns true. Returns false for a large chunk or a full buffer. Throws for too many. */
  keep(chunk: Uint8Array): boolean {
    if (chunk.length >= SMALL_BYTES) return false;
    if (++this.#count > MAX_SMALL_CHUNKS) throw tooManyChunks();
    if (this.#joined.length === 0) this.#joined = Buffer.allocUnsafeSlow(JOINED_BYTES);
    if (this.#length + chunk.length > JOINED_BYTES) return false;
    this.#joined.set(chunk, this.#length);
    this.#length += chunk.length;
    return true;
  }

  /** Returns the chunks that were copied since the last call, joined into one chunk; null when there are none. */
  take(): Uint8Array | null {
    if (this.#length === 0) return null;
    const joined = this.#joined.subarray(0, this.#length);
    this.#joined = Buffer.alloc(0);
    this.#length = 0;
    return joined;
  }
}

function tooManyChunks(): GatewayError {
  const message = `Send the body with a Content-Length or in larger chunks: at most ${MAX_SMALL_CHUNKS} may have fewer than ${SMALL_BYTES} bytes.`;
  return new GatewayError("invalid_request_body", message, { closesConnection: true });
}
