import type { TextStream } from "../dialects/dialect.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import type { Deadline, DeadlineTimer } from "../lib/deadline-timer.ts";
import type { ByteReader } from "../lib/byte-stream.ts";
import { ClientDisconnected, type Call } from "./routing/call.ts";
import { asStreamError } from "./stream-error.ts";

/** Interval of keep-alive frames in a silent stream. */
const KEEP_ALIVE_MS = 15_000;
const CHECKPOINT_MS = 2_000;

export interface Relay {
  reader: ByteReader;
  stream: TextStream;
  /** Bytes of the stream up to the first content. */
  head: Uint8Array;
  /** Sent while the upstream is silent. */
  keepAliveFrame: Uint8Array;
  call: Call;
  /** Aborted when the client disconnects. */
  clientSignal: AbortSignal;
  deadlineTimer: DeadlineTimer;
  /** Maximum milliseconds for which the upstream may be silent. */
  idleMs: number;
  /** True when the upstream is read to its end after the client has disconnected. */
  isDetachable: boolean;
  /** True when the rest of the body is read even after the client has disconnected, because the outcome is kept. */
  isKept: boolean;
  /**
   * Counts the tokens that the vendor did not report. Returns null when nothing has to be counted. Called before `end`,
   * except when the client's disconnection, or a failure before the client reads, ends the stream.
   */
  refine(): Promise<void> | null;
  /** Called about every two seconds while the stream runs, if new data has arrived. */
  checkpoint(): void;
  /** Called exactly once, before the last bytes. Returns an error event that replaces the normal ending, or null. */
  end(how: StreamEnd): Uint8Array | null;
  /** Called after `end`. The last bytes are sent once the promise resolves, or at once if it is undefined. */
  settling(): Promise<void> | undefined;
}

export type StreamEnd = { isClientDisconnected: boolean } & (
  { kind: "complete" } | { kind: "cut"; error: unknown }
);

/** Writes a response body to the client. */
export interface BodyWriter {
  /** Called when the client begins to read. Resolves after the last byte; never rejects. */
  run(client: Client): Promise<void>;
  /** Called when the client has disconnected. */
  cancel(): void;
}

/** The object to which the client's bytes are written. */
export type Client = Pick<ReadableStreamDirectController, "write" | "flush" | "close">;

/** Returns a response body. `writer` writes its bytes. */
export function bodyOf(writer: BodyWriter): ReadableStream<Uint8Array> {
  // A direct stream adds the least work per frame. `write` returns a promise while the client reads too slowly.
  return new ReadableStream({
    type: "direct",
    pull: (client) => writer.run(client),
    cancel: () => writer.cancel(),
  });
}

/** Forwards upstream bytes as fast as the client reads. The body always ends normally or with an error event. */
export function relay(options: Relay): BodyWriter {
  return new RunningRelay(options);
}

const NOTHING = new Uint8Array(0);
const NO_CLIENT: Client = { write: () => 0, flush: () => 0, close: () => {} };

class RunningRelay implements BodyWriter {
  readonly #relay: Omit<Relay, "head">;
  #client: Client | null = null;
  #hasEnded = false;
  #isClientDisconnected = false;
  /**
   * Monotonic milliseconds at which the relay began to wait for the upstream; before the client reads, the time of the
   * relay's creation. Null while a slow client reads, and while the usage is counted.
   */
  #waitingSince: number | null = performance.now();
  /** Time of the last keep-alive frame. */
  #keptAliveAt = 0;
  /** True when data has arrived since the last checkpoint. */
  #hasNews = true;
  #watch: Deadline;
  #isCutOnAbort = false;
  #isCut = false;
  /**
   * Bytes of the stream up to the first content. Set to null once these bytes are sent: they may be a view of the
   * vendor connection's buffer and would keep this buffer in memory.
   */
  #head: Uint8Array | null;

  constructor({ head, ...relay }: Relay) {
    this.#relay = relay;
    this.#head = head;
    this.#watch = this.#watchFor(relay.clientSignal.aborted ? 0 : Math.min(CHECKPOINT_MS, relay.idleMs));
  }

  async run(client: Client): Promise<void> {
    if (this.#client || this.#hasEnded) return client.close();
    const { reader, stream, call, isDetachable } = this.#relay;
    this.#client = client;
    // From now on the runtime calls `cancel` when the client disconnects. The call therefore need not watch the
    // client's signal. The call of a detachable stream never watches the client's signal.
    if (!isDetachable) call.leaveClient();
    let output = this.#head ?? NOTHING;
    this.#head = null;
    try {
      for (;;) {
        this.#waitingSince = null;
        if (output.length > 0 && this.#hasReader) {
          const taken = client.write(output);
          void client.flush();
          if (typeof taken === "object") {
            this.#cutOnAbort(client);
            await taken;
            if (this.#hasEnded) return;
          }
        }
        if (stream.isDone) break;
        this.#waitingSince = performance.now();
        const { done, value } = await reader.read();
        if (done || !value) break;
        output = stream.push(value);
        this.#hasNews = true;
      }
      await this.#complete(client);
    } catch (thrown) {
      await this.#cut(thrown, client);
    }
  }

  get #hasReader(): boolean {
    return this.#relay.isKept || !this.#isClientDisconnected;
  }

  cancel(): void {
    this.#isClientDisconnected = true;
    const { isDetachable, call } = this.#relay;
    if (this.#hasEnded || (isDetachable && !call.cancellation.aborted)) return;
    call.abort(new ClientDisconnected());
    this.#end({ kind: "cut", error: new ClientDisconnected() });
  }

  /** Cuts the stream when its call is aborted, so that the timeouts apply even while the client reads nothing. */
  #cutOnAbort(client: Client): void {
    if (this.#isCutOnAbort) return;
    this.#isCutOnAbort = true;
    const { cancellation } = this.#relay.call;
    cancellation.throwIfAborted();
    const cut = (): void => {
      if (this.#waitingSince === null && !this.#hasEnded) void this.#cut(cancellation.reason, client);
    };
    cancellation.addEventListener("abort", cut, { once: true });
  }

  async #complete(client: Client): Promise<void> {
    await this.#refine();
    if (this.#isCut) return;
    const ending = this.#relay.stream.end();
    const failure = this.#end({ kind: "complete" });
    await this.#relay.settling();
    if (this.#hasReader) client.write(failure ?? ending);
    client.close();
    void this.#readRest();
  }

  async #cut(thrown: unknown, client: Client): Promise<void> {
    if (this.#isCut) return;
    this.#isCut = true;
    const { call } = this.#relay;
    // The reason is read now. Later events, while the usage is counted, must not change the reason.
    const error = call.reasonOf(thrown);
    if (error instanceof ClientDisconnected) this.#isClientDisconnected = true;
    await this.#refine();
    const failure = this.#end({ kind: "cut", error: asStreamError(error) });
    call.abort(new UpstreamError("broken", "the stream was abandoned"));
    await this.#relay.settling();
    if (failure && !this.#isClientDisconnected) client.write(failure);
    client.close();
  }

  #refine(): Promise<void> | null {
    this.#waitingSince = null;
    return this.#hasEnded ? null : this.#relay.refine();
  }

  /** Reads the bytes after the upstream's last event, so that the vendor's connection can be reused. */
  async #readRest(): Promise<void> {
    const { reader, call } = this.#relay;
    try {
      call.expect("the end of the stream", 1_000);
      while (!(await reader.read()).done);
      call.stopExpecting();
    } catch {
      // A failure does not matter, because the reply was complete.
    }
  }

  #end(how: { kind: "complete" } | { kind: "cut"; error: unknown }): Uint8Array | null {
    if (this.#hasEnded) return null;
    this.#hasEnded = true;
    this.#isClientDisconnected ||= this.#relay.clientSignal.aborted;
    this.#relay.deadlineTimer.clear(this.#watch);
    return this.#relay.end({ ...how, isClientDisconnected: this.#isClientDisconnected });
  }

  #watchFor(withinMs: number): Deadline {
    return this.#relay.deadlineTimer.set(withinMs, () => this.#check());
  }

  /**
   * Makes a checkpoint of new usage, also for a stalled stream. Ends the call when the upstream is silent for too long.
   * Time in which the client does not read is not counted as silence.
   */
  #check(): void {
    const { clientSignal, idleMs, checkpoint } = this.#relay;
    // The runtime neither pulls nor cancels the body when the client disconnects before it reads anything.
    if (!this.#client && clientSignal.aborted) return this.#runWithoutClient();
    if (clientSignal.aborted) this.cancel();
    if (this.#hasEnded) return;
    try {
      if (this.#hasNews) checkpoint();
    } catch (cause) {
      return this.#abort(new Error("the checkpoint failed", { cause }));
    }
    this.#hasNews = false;
    const now = performance.now();
    const since = this.#waitingSince ?? now;
    if (now - since >= idleMs) {
      const message = `silent for ${Math.round(now - since)} ms`;
      return this.#abort(new UpstreamError("timeout", message, { isAmbiguous: true }));
    }
    if (now - Math.max(since, this.#keptAliveAt) >= KEEP_ALIVE_MS) this.#sendKeepAlive(now);
    const untilKeepAliveMs = KEEP_ALIVE_MS - (now - Math.max(since, this.#keptAliveAt));
    this.#watch = this.#watchFor(Math.min(CHECKPOINT_MS, untilKeepAliveMs, idleMs - (now - since)));
  }

  /** Aborts the call, so that a pending read fails. Ends the stream if the client has not begun to read. */
  #abort(error: Error): void {
    this.#relay.call.abort(error);
    if (!this.#client) this.#end({ kind: "cut", error });
  }

  #runWithoutClient(): void {
    this.cancel();
    if (this.#hasEnded) return;
    this.#watch = this.#watchFor(0);
    void this.run(NO_CLIENT);
  }

  #sendKeepAlive(now: number): void {
    this.#keptAliveAt = now;
    if (this.#isClientDisconnected) return;
    this.#client?.write(this.#relay.keepAliveFrame);
    void this.#client?.flush();
  }
}
