import { KEEP_ALIVE_FRAME, type ChatStream } from "../dialects/chat/index.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { Deadline, Deadlines } from "../lib/deadlines.ts";
import { CallerGone, type Call } from "./routing/call.ts";

/** Silence on a stream is filled this often. */
const KEEP_ALIVE_MS = 15_000;
const CHECKPOINT_MS = 2_000;

/** A stream being read. */
export interface ByteReader {
  read(): Promise<{ done: boolean; value?: Uint8Array }>;
}

export interface Relay {
  reader: ByteReader;
  stream: ChatStream;
  /** What was held back until there was content. */
  head: Uint8Array;
  call: Call;
  deadlines: Deadlines;
  /** Longest silence of the upstream. */
  idleMs: number;
  /** Whether an answer is read to its end after the caller has gone. */
  isDraining: boolean;
  /** Called about every two seconds while the stream runs. */
  checkpoint(): void;
  /** Called exactly once, before the caller's ending; gives an error event to send in its place, or null. */
  end(how: StreamEnd): Uint8Array | null;
}

export type StreamEnd = { isCallerGone: boolean } & ({ kind: "complete" } | { kind: "cut"; error: unknown });

/**
 * The caller's body: upstream bytes as fast as the caller reads them and no faster. It always ends in one of two
 * ways: the protocol's own ending, or an error event. Never rejects.
 */
export function relay(options: Relay): ReadableStream<Uint8Array> {
  const running = new RunningRelay(options);
  return new ReadableStream(
    {
      pull: (controller) => running.pull(controller),
      cancel: () => running.cancel(),
    },
    { highWaterMark: 1 },
  );
}

class RunningRelay {
  #head: Uint8Array | null;
  #hasEnded = false;
  #isCallerGone = false;
  #silenceMs = 0;
  #silence: Deadline | undefined;
  #checkpointAt = performance.now() + CHECKPOINT_MS;

  constructor(private readonly relay: Relay) {
    this.#head = relay.head;
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (this.#head) {
      const head = this.#head;
      this.#head = null;
      if (head.length > 0) return controller.enqueue(head);
    }
    try {
      for (;;) {
        const output = await this.#next(controller);
        if (output === null) return this.#complete(controller);
        if (output.length > 0) return controller.enqueue(output);
      }
    } catch (thrown) {
      this.#cut(thrown, controller);
    }
  }

  cancel(): Promise<void> | void {
    this.#isCallerGone = true;
    if (this.#hasEnded) return;
    if (this.relay.isDraining && !this.relay.call.signal.aborted) return this.#drain();
    this.relay.call.abort(new CallerGone());
    this.#end({ kind: "cut", error: new CallerGone() });
  }

  /** The next bytes for the caller, null at the end. */
  async #next(controller: ReadableStreamDefaultController<Uint8Array> | null): Promise<Uint8Array | null> {
    const { reader, stream } = this.relay;
    if (stream.isDone) return null;
    this.#listen(controller);
    const { done, value } = await reader.read();
    this.#hear();
    if (done || !value) return null;
    const output = stream.push(value);
    const now = performance.now();
    if (now > this.#checkpointAt) {
      this.#checkpointAt = now + CHECKPOINT_MS;
      this.relay.checkpoint();
    }
    return output;
  }

  #complete(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const ending = this.relay.stream.end();
    const failure = this.#end({ kind: "complete" });
    controller.enqueue(failure ?? ending);
    controller.close();
    void this.#readRest();
  }

  #cut(thrown: unknown, controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { call } = this.relay;
    this.#hear();
    const error = call.reasonOf(thrown);
    if (error instanceof CallerGone) this.#isCallerGone = true;
    const failure = this.#end({ kind: "cut", error: isTyped(error) ? error : unreadable(error) });
    call.abort(new UpstreamError("broken", "the stream was given up"));
    if (this.#isCallerGone) return;
    if (failure) controller.enqueue(failure);
    controller.close();
  }

  async #drain(): Promise<void> {
    try {
      while ((await this.#next(null)) !== null);
      this.relay.stream.end();
      this.#end({ kind: "complete" });
    } catch (thrown) {
      this.#hear();
      this.#end({ kind: "cut", error: this.relay.call.reasonOf(thrown) });
      this.relay.call.abort(new CallerGone());
    }
  }

  /** What follows the upstream's last word is read away, so that its connection can be used again. */
  async #readRest(): Promise<void> {
    const { reader, call } = this.relay;
    try {
      call.expect("the end of the stream", 1_000);
      while (!(await reader.read()).done);
      call.settle();
    } catch {
      // The answer was complete; how its connection ends is of no interest.
    }
  }

  #end(how: { kind: "complete" } | { kind: "cut"; error: unknown }): Uint8Array | null {
    if (this.#hasEnded) return null;
    this.#hasEnded = true;
    return this.relay.end({ ...how, isCallerGone: this.#isCallerGone });
  }

  /** Only the upstream's silence counts, so the clock runs only while it is being waited for. */
  #listen(controller: ReadableStreamDefaultController<Uint8Array> | null): void {
    const stepMs = Math.min(KEEP_ALIVE_MS, this.relay.idleMs);
    this.#silence = this.relay.deadlines.set(stepMs, () => {
      this.#silenceMs += stepMs;
      if (this.#silenceMs >= this.relay.idleMs) {
        const message = `silent for ${this.#silenceMs} ms`;
        return this.relay.call.abort(new UpstreamError("timeout", message, { isAmbiguous: true }));
      }
      if (controller && (controller.desiredSize ?? 0) > 0) controller.enqueue(KEEP_ALIVE_FRAME);
      this.#listen(controller);
    });
  }

  #hear(): void {
    if (this.#silence) this.relay.deadlines.clear(this.#silence);
    this.#silenceMs = 0;
  }
}

/** A stream that can no longer be read is an upstream's fault, but for the caller's going and a deadline. */
export function asUnreadable(error: unknown): never {
  throw isTyped(error) ? error : unreadable(error);
}

function isTyped(error: unknown): boolean {
  return error instanceof UpstreamError || error instanceof CallerGone;
}

function unreadable(cause: unknown): UpstreamError {
  return new UpstreamError("unreachable", "the connection broke inside the stream", {
    isAmbiguous: true,
    cause,
  });
}
