import { GatewayError } from "../domain/gateway-error.ts";
import type { Deadline, DeadlineTimer } from "../lib/deadline-timer.ts";
import { sleep } from "../lib/waiting.ts";
import { asGatewayError } from "./failure.ts";
import type { BodyWriter, Client } from "./relay.ts";
import { ClientDisconnected } from "./routing/call.ts";
import type { RelayedStream } from "./text-stream.ts";

interface StreamToBegin extends Pick<RelayedStream, "ignored"> {
  /** Resolves with the stream after its first content has arrived. */
  opening: Promise<RelayedStream>;
  deadlineTimer: DeadlineTimer;
  /** Time between two keep-alive frames. */
  intervalMs: number;
  keepAliveFrame: Uint8Array;
  /** Returns an error event in the caller's protocol, for a stream of which no content was sent. */
  errorFrame(error: GatewayError): Uint8Array;
}

/**
 * Returns a stream whose response begins before its first content. Sends keep-alive frames while targets are called.
 * Then sends the stream of the first target with content, or an error event if no target has content.
 */
export function beginStream(begun: StreamToBegin): RelayedStream {
  const ended = begun.opening.then(
    (opened) => opened.ended,
    (thrown: unknown) => (thrown instanceof ClientDisconnected ? thrown : asGatewayError(thrown)),
  );
  return { writer: new BegunStream(begun), ended, ignored: begun.ignored };
}

/**
 * Adds the delay before a retry to the message, in the words that Codex reads. A `Retry-After` is no longer possible,
 * because the headers have been sent.
 */
function withRetryHint(error: GatewayError): GatewayError {
  const { code, message, retryAfterSeconds: seconds } = error;
  if (seconds === undefined) return error;
  return new GatewayError(code, `${message} Try again in ${seconds}s.`, { retryAfterSeconds: seconds });
}

/** Minimum time between a keep-alive frame and an error, so that they arrive as separate network chunks. */
const APART_MS = 50;

class BegunStream implements BodyWriter {
  /** Set to null when the opening has ended, because the object references the whole request. */
  #begun: StreamToBegin | null;
  #alive: Deadline | null = null;
  /** Time of the last keep-alive frame. */
  #aliveAt = 0;
  #opened: RelayedStream | null = null;
  #isCancelled = false;

  constructor(begun: StreamToBegin) {
    this.#begun = begun;
  }

  async run(client: Client): Promise<void> {
    const begun = this.#begun;
    if (!begun || this.#isCancelled) return client.close();
    this.#keepAlive(client, begun);
    try {
      this.#opened = await begun.opening;
    } catch (thrown) {
      this.#stopKeepingAlive(begun);
      const isGone = this.#isCancelled || thrown instanceof ClientDisconnected;
      // Google's clients recognize an error event only when it arrives as a network chunk of its own.
      const sinceAliveMs = performance.now() - this.#aliveAt;
      if (!isGone && sinceAliveMs < APART_MS) await sleep(APART_MS - sinceAliveMs);
      if (!isGone && !this.#isCancelled)
        client.write(begun.errorFrame(withRetryHint(asGatewayError(thrown))));
      return client.close();
    } finally {
      this.#begun = null;
    }
    this.#stopKeepingAlive(begun);
    if (this.#isCancelled) this.#opened.writer.cancel();
    return this.#opened.writer.run(client);
  }

  /** Ends the opened stream. Before the first content, the vendor's call itself watches the client's signal. */
  cancel(): void {
    this.#isCancelled = true;
    this.#opened?.writer.cancel();
  }

  /** Sends a keep-alive frame. The first frame also makes the runtime send the response's status and headers. */
  #keepAlive(client: Client, begun: StreamToBegin): void {
    if (this.#isCancelled) return;
    client.write(begun.keepAliveFrame);
    this.#aliveAt = performance.now();
    void client.flush();
    this.#alive = begun.deadlineTimer.set(begun.intervalMs, () => this.#keepAlive(client, begun));
  }

  #stopKeepingAlive({ deadlineTimer }: StreamToBegin): void {
    if (this.#alive) deadlineTimer.clear(this.#alive);
  }
}
