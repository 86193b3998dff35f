import { GatewayError } from "../../domain/gateway-error.ts";

/** Receiving a chunk of fewer bytes takes longer than processing them. */
const SMALL_BYTES = 512;
/** This many chunks take about 10 ms. Client libraries send chunks of kilobytes, with a few short ones between them. */
const MAX_SMALL_CHUNKS = 8_192;
/** Small, because no quota counts it. */
const JOINED_BYTES = 16 * 1024;

/**
 * Joins the small chunks of a body without a declared length, and refuses too many: the runtime makes a call for each
 * chunk, and a megabyte in one-byte chunks blocks the event loop for half a second. The runtime joins chunks that
 * arrive while nobody waits, and they cannot be counted then, so small ones are awaited without a pause.
 */
export class SmallChunks {
  #count = 0;
  #joined = Buffer.alloc(0);
  #length = 0;

  /** Keeps a small chunk while there is space and returns true, else returns false. Throws for one too many. */
  keep(chunk: Uint8Array): boolean {
    if (chunk.length >= SMALL_BYTES) return false;
    if (++this.#count > MAX_SMALL_CHUNKS) throw tooManyChunks();
    if (this.#joined.length === 0) this.#joined = Buffer.allocUnsafeSlow(JOINED_BYTES);
    if (this.#length + chunk.length > JOINED_BYTES) return false;
    this.#joined.set(chunk, this.#length);
    this.#length += chunk.length;
    return true;
  }

  /** Returns the chunks kept since the last call, as one; null for none. */
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
