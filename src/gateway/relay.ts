import { KEEP_ALIVE_FRAME, type ChatStream } from "../dialects/chat/index.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { Deadline, DeadlineTimer } from "../lib/deadline-timer.ts";
import { ClientDisconnected, type Call } from "./routing/call.ts";

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
  deadlineTimer: DeadlineTimer;
  /** Longest silence of the upstream. */
  idleMs: number;
  /** Whether an answer is read to its end after the caller has gone. */
  isDetachable: boolean;
  /** Called about every two seconds while the stream runs. */
  checkpoint(): void;
  /** Called exactly once, before the caller's ending; gives an error event to send in its place, or null. */
  end(how: StreamEnd): Uint8Array | null;
}

export type StreamEnd = { isClientDisconnected: boolean } & (
  { kind: "complete" } | { kind: "cut"; error: unknown }
);

/**
 * The caller's body: upstream bytes as fast as the caller reads them and no faster. It always ends in one of two
 * ways: the protocol's own ending, or an error event. Never rejects.
 */
export function relay(options: Relay): ReadableStream<Uint8Array> {
  const running = new RunningRelay(options);
  // A direct stream queues nothing, so a frame costs the fewest steps; `write` tells when the caller is behind.
  return new ReadableStream({
    type: "direct",
    pull: (caller) => running.run(caller),
    cancel: () => running.cancel(),
  });
}

/** Where the caller's bytes go. */
type Caller = Pick<ReadableStreamDirectController, "write" | "flush" | "close">;

class RunningRelay {
  #caller: Caller | null = null;
  #hasEnded = false;
  #isClientDisconnected = false;
  /** Since when the upstream (or, at first, the caller) is being waited for; null while it is not their turn. */
  #waitingSince: number | null = performance.now();
  /** When a silence was last filled. */
  #filledAt = 0;
  #checkpointAt = performance.now() + CHECKPOINT_MS;
  #watch: Deadline;
  #isCutWhenAborted = false;

  constructor(private readonly relay: Relay) {
    this.#watch = this.#watchFor(Math.min(KEEP_ALIVE_MS, relay.idleMs));
  }

  async run(caller: Caller): Promise<void> {
    const { reader, stream, head, checkpoint } = this.relay;
    this.#caller = caller;
    try {
      for (let output = head; ;) {
        this.#waitingSince = null;
        if (output.length > 0 && !this.#isClientDisconnected) {
          const taken = caller.write(output);
          void caller.flush();
          if (typeof taken === "object") {
            this.#cutWhenAborted(caller);
            await taken;
            if (this.#hasEnded) return;
          }
        }
        if (stream.isDone) break;
        const now = performance.now();
        if (now > this.#checkpointAt) {
          this.#checkpointAt = now + CHECKPOINT_MS;
          checkpoint();
        }
        this.#waitingSince = now;
        const { done, value } = await reader.read();
        if (done || !value) break;
        output = stream.push(value);
      }
      this.#complete(caller);
    } catch (thrown) {
      this.#cut(thrown, caller);
    }
  }

  /** The caller hung up. */
  cancel(): void {
    this.#isClientDisconnected = true;
    const { isDetachable, call } = this.relay;
    if (this.#hasEnded || (isDetachable && !call.signal.aborted)) return;
    call.abort(new ClientDisconnected());
    this.#end({ kind: "cut", error: new ClientDisconnected() });
  }

  /** A caller who takes no bytes must not outlast the call's deadlines. */
  #cutWhenAborted(caller: Caller): void {
    if (this.#isCutWhenAborted) return;
    this.#isCutWhenAborted = true;
    const { signal } = this.relay.call;
    signal.throwIfAborted();
    const cut = (): void => {
      if (this.#waitingSince === null && !this.#hasEnded) this.#cut(signal.reason, caller);
    };
    signal.addEventListener("abort", cut, { once: true });
  }

  #complete(caller: Caller): void {
    const ending = this.relay.stream.end();
    const failure = this.#end({ kind: "complete" });
    if (!this.#isClientDisconnected) caller.write(failure ?? ending);
    caller.close();
    void this.#readRest();
  }

  #cut(thrown: unknown, caller: Caller): void {
    const { call } = this.relay;
    const error = call.reasonOf(thrown);
    if (error instanceof ClientDisconnected) this.#isClientDisconnected = true;
    const failure = this.#end({ kind: "cut", error: asStreamError(error) });
    call.abort(new UpstreamError("broken", "the stream was given up"));
    if (failure && !this.#isClientDisconnected) caller.write(failure);
    caller.close();
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
    this.relay.deadlineTimer.clear(this.#watch);
    return this.relay.end({ ...how, isClientDisconnected: this.#isClientDisconnected });
  }

  #watchFor(withinMs: number): Deadline {
    return this.relay.deadlineTimer.set(withinMs, () => this.#lookForSilence());
  }

  /** Only the upstream's silence counts, so the clock stands still while the caller is being waited for. */
  #lookForSilence(): void {
    const { call, idleMs } = this.relay;
    const now = performance.now();
    const since = this.#waitingSince ?? now;
    if (now - since >= idleMs) {
      const message = `silent for ${Math.round(now - since)} ms`;
      const error = new UpstreamError("timeout", message, { isAmbiguous: true });
      call.abort(error);
      if (!this.#caller) this.#end({ kind: "cut", error });
      return;
    }
    if (now - Math.max(since, this.#filledAt) >= KEEP_ALIVE_MS) this.#fillSilence(now);
    const untilFillMs = KEEP_ALIVE_MS - (now - Math.max(since, this.#filledAt));
    this.#watch = this.#watchFor(Math.min(untilFillMs, idleMs - (now - since)));
  }

  #fillSilence(now: number): void {
    this.#filledAt = now;
    if (this.#isClientDisconnected) return;
    this.#caller?.write(KEEP_ALIVE_FRAME);
    void this.#caller?.flush();
  }
}

/** A stream that can no longer be read is an upstream's fault, but for the caller's going and a deadline. */
export function asStreamError(error: unknown): unknown {
  return isTyped(error) ? error : unreadable(error);
}

function isTyped(error: unknown): boolean {
  return error instanceof UpstreamError || error instanceof ClientDisconnected;
}

function unreadable(cause: unknown): UpstreamError {
  return new UpstreamError("unreachable", "the connection broke inside the stream", {
    isAmbiguous: true,
    cause,
  });
}
