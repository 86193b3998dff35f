import { GatewayError } from "../../domain/gateway-error.ts";
import { DeadlineTimer } from "../../lib/deadline-timer.ts";
import { declaredLength, tooLarge } from "./body-length.ts";
import { ResourceQuota } from "./resource-quota.ts";
import { SmallChunks } from "./small-chunks.ts";

const MIB = 1024 * 1024;

/** Lowest average speed of a body after its grace time; slow mobile networks are twice as fast. */
const MIN_BYTES_PER_SECOND = 16 * 1024;

/** Limits the resources and the duration of bodies while they are read. One for the process. */
export class BodyLimits {
  /** Counts bodies. High enough for thousands of clients of one key that connect at once. */
  readonly bodies = new ResourceQuota("bodies being sent", {
    key: 2_000,
    organization: 4_000,
    process: 8_000,
  });
  /** Counts bytes of bodies read into memory. */
  readonly memory = new ResourceQuota("memory for bodies being sent", {
    key: 128 * MIB,
    organization: 256 * MIB,
    process: 512 * MIB,
  });
  /** Counts the bytes of memory that decoders of content encodings may allocate. */
  readonly decoders = new ResourceQuota("memory for compressed bodies being sent", {
    key: 128 * MIB,
    organization: 256 * MIB,
    process: 512 * MIB,
  });
  readonly #timer = new DeadlineTimer();
  readonly #graceMs: number;

  /** A body may take `graceMs`, and longer by its size. */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /**
   * Yields a body of at most `maxBytes` as it arrives, while its average speed is sufficient. Time in which the reader
   * takes no pieces does not count. Small chunks are joined.
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

  /** Waits for a body of a declared length at most as long as a body of that length may take. */
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
