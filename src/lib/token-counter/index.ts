import { threadScript } from "../program-files.ts";
import { after } from "../waiting.ts";

/**
 * Counts the tokens of texts with the tokenizer of OpenAI's current models (`o200k_base`). For other models the count
 * is an estimate. The tokenizer takes a second and 90 MB to load. It is therefore loaded at its first use, in its own
 * thread, which ends after some time without use.
 */
export class TokenCounter {
  readonly #maxMs: number;
  readonly #idleMs: number;
  #thread: Worker | null = null;
  #idleTimer: Timer | undefined;
  readonly #waiting = new Map<number, (tokens: number | null) => void>();
  #lastId = 0;
  #isClosed = false;

  constructor({ maxMs = MAX_MS, idleMs = IDLE_MS }: { maxMs?: number; idleMs?: number } = {}) {
    this.#maxMs = maxMs;
    this.#idleMs = idleMs;
  }

  /**
   * Returns the number of tokens of a text. Returns null for a text over `MAX_COUNTED_UNITS`, and when too many callers
   * wait, the count takes too long, the thread fails or the counter is closed. Never rejects.
   */
  readonly count = (text: string): Promise<number | null> => {
    if (text === "") return Promise.resolve(0);
    const isRefused = this.#isClosed || this.#waiting.size >= MAX_WAITING;
    if (isRefused || text.length > MAX_COUNTED_UNITS) return Promise.resolve(null);
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<number | null>();
    const stopTimer = after(this.#maxMs, () => this.#finish(id, null));
    this.#waiting.set(id, (tokens) => {
      stopTimer();
      resolve(tokens);
    });
    clearTimeout(this.#idleTimer);
    const request: CountRequest = { id, text };
    this.#running().postMessage(request);
    return promise;
  };

  /** Stops counting. Callers that wait get null at once. */
  close(): void {
    this.#isClosed = true;
    this.#endThread();
  }

  #running(): Worker {
    if (this.#thread) return this.#thread;
    const thread = new Worker(threadScript("src/lib/token-counter/thread.ts"), { ref: false });
    thread.onmessage = ({ data: { id, tokens } }: MessageEvent<CountReply>) => this.#finish(id, tokens);
    // The next text to count starts a new thread.
    thread.onerror = () => this.#endThread();
    return (this.#thread = thread);
  }

  #endThread(): void {
    clearTimeout(this.#idleTimer);
    this.#thread?.terminate();
    this.#thread = null;
    for (const id of this.#waiting.keys()) this.#finish(id, null);
  }

  #finish(id: number, tokens: number | null): void {
    const resolve = this.#waiting.get(id);
    if (!resolve) return;
    this.#waiting.delete(id);
    resolve(tokens);
    if (this.#waiting.size > 0 || !this.#thread) return;
    this.#idleTimer = setTimeout(() => this.#endThread(), this.#idleMs);
    this.#idleTimer.unref();
  }
}

/** A message to the thread, and its reply. */
export interface CountRequest {
  id: number;
  text: string;
}
export interface CountReply {
  id: number;
  tokens: number;
}

/** Maximum length of a counted text, in UTF-16 code units. Random Chinese, the slowest text, then takes 3 s. */
export const MAX_COUNTED_UNITS = 256 * 1024;
const MAX_WAITING = 64;
const MAX_MS = 10_000;
const IDLE_MS = 30_000;
