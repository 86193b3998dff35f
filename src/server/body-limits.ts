import { GatewayError } from "../domain/gateway-error.ts";
import { DeadlineTimer } from "../lib/deadline-timer.ts";
import { FairSemaphore } from "../lib/semaphore.ts";
import { sleep } from "../lib/waiting.ts";
import { ResourceQuota } from "./resource-quota.ts";

const MIB = 1024 * 1024;

/** Lowest average speed of a body after its grace time; slow mobile networks reach twice as much. */
const MIN_BYTES_PER_SECOND = 16 * 1024;

/** Pieces of fewer bytes, and how many of them a body may have before its reading pauses. */
const SMALL_BYTES = 128;
const MAX_SMALL_PIECES = 1;
const MIN_PAUSE_MS = 5;
/** Several times what the runtime takes for bytes that arrive in chunks of their own. */
const PAUSE_BYTES_PER_MS = 2048;

/** What bodies may use while they are read, and how fast they must arrive. One for the process. */
export class BodyLimits {
  /** Counts bodies. High enough for thousands of clients of one key that connect at once. */
  readonly bodies = new ResourceQuota("bodies being sent", {
    key: 2_000,
    organization: 4_000,
    process: 8_000,
  });
  /** Counts bytes of bodies that are read into memory. */
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
  readonly #pauses = new FairSemaphore(1);
  readonly #timer = new DeadlineTimer();
  readonly #graceMs: number;

  /** A body may take `graceMs` and longer by its size. */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /**
   * Yields the pieces of a body while their average speed is sufficient. Time in which nobody takes them does not count.
   * A body in tiny chunks holds the event loop: the runtime takes some 60 ns for each, a second for 16 MiB of one byte
   * each. After small pieces its reading therefore pauses by what has arrived, and the runtime then reads no further.
   * One body pauses at a time, organizations in turn, so many bodies take no larger share than one.
   */
  async *paced(body: AsyncIterable<Uint8Array>, organization: string): AsyncGenerator<Uint8Array> {
    let received = 0;
    let waitedMs = 0;
    let smallPieces = 0;
    let pausedAt = 0;
    let since = performance.now();
    for await (const piece of body) {
      waitedMs += performance.now() - since;
      received += piece.length;
      if (waitedMs > this.#timeFor(received)) throw tooSlow();
      if (piece.length < SMALL_BYTES) smallPieces += 1;
      yield piece;
      since = performance.now();
      if (smallPieces > MAX_SMALL_PIECES) {
        using _turn = await this.#pauses.acquire(organization);
        await sleep(Math.max(MIN_PAUSE_MS, (received - pausedAt) / PAUSE_BYTES_PER_MS));
        pausedAt = received;
      }
    }
  }

  /** Waits for a body of a declared length as long as a body of that length may take. */
  arrived<Body>(body: Promise<Body>, byteLength: number): Promise<Body> {
    return new Promise((resolve, reject) => {
      const deadline = this.#timer.set(this.#timeFor(byteLength), () => reject(tooSlow()));
      body.then(resolve, reject).finally(() => this.#timer.clear(deadline));
    });
  }

  #timeFor(byteLength: number): number {
    return this.#graceMs + (byteLength / MIN_BYTES_PER_SECOND) * 1000;
  }
}

function tooSlow(): GatewayError {
  const message = `The body arrived too slowly: send at least ${MIN_BYTES_PER_SECOND / 1024} KiB a second.`;
  return new GatewayError("invalid_request_body", message, { closesConnection: true });
}
