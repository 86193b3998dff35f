import { RedisClient } from "bun";
import { DeadlineTimer } from "../../lib/deadline-timer.ts";
import { after } from "../../lib/waiting.ts";

/** Sends one command. Rejects when the response is an error, is late, or cannot arrive. */
export type Send = (command: string, args: string[]) => Promise<unknown>;

interface RedisLinkOptions {
  /** `redis://`, `rediss://` or `redis+unix://` address. */
  url: string;
  /** Maximum duration of a response in milliseconds. */
  boundMs: number;
  /** Prepares a new connection, which is used only after `prepare` has succeeded. */
  prepare(send: Send, client: RedisClient): Promise<void>;
  /** Called with the first state and with every change, and with the reason of a loss. Must not throw. */
  onState(isUp: boolean, cause?: unknown): void;
  /** Called with the duration of each call, in seconds. */
  onCall?: ((seconds: number) => void) | undefined;
}

const CONNECT_MS = 1_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1_000;
/** Resolution of deadlines, and the length of the second part of a call's deadline. */
const TICK_MS = 10;

/**
 * A connection that is either quick or closed. The first failed or late response closes the connection for all waiting
 * callers; the link reconnects by itself after a pause of 0.1 to 1 second. A server that does not respond delays each
 * request by no more than the bound.
 */
export class RedisLink {
  /** Settles when the first attempt to connect has succeeded or failed. Never rejects. */
  readonly ready: Promise<void>;
  readonly #options: RedisLinkOptions;
  readonly #deadlines = new DeadlineTimer(TICK_MS);
  /** The connection that is in use or is being prepared. */
  #current: RedisClient | null = null;
  #state: boolean | null = null;
  #isClosed = false;
  #pauseMs = FIRST_PAUSE_MS;
  #cancelRetry: (() => void) | undefined;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
    this.ready = this.#connect();
  }

  get isUp(): boolean {
    return this.#state === true;
  }

  send(command: string, args: string[]): Promise<unknown> {
    if (!this.#current || !this.isUp) return Promise.reject(new Error("the counter store is not connected"));
    return this.#transmit(this.#current, command, args);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry?.();
    if (this.#current) this.#lose(this.#current);
  }

  async #connect(): Promise<void> {
    const { url, prepare } = this.#options;
    const client = new RedisClient(url, {
      connectionTimeout: CONNECT_MS,
      autoReconnect: false,
      enableOfflineQueue: false,
    });
    this.#current = client;
    client.onclose = (error) => this.#lose(client, error);
    try {
      await client.connect();
      await prepare((command, args) => this.#transmit(client, command, args), client);
    } catch (error) {
      this.#lose(client, error);
    }
    if (this.#current !== client) return;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#notify(true);
  }

  #transmit(client: RedisClient, command: string, args: string[]): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const { onCall } = this.#options;
    const startedAt = performance.now();
    const end = () => {
      this.#deadlines.clear(deadline);
      onCall?.((performance.now() - startedAt) / 1000);
    };
    const fail = (error: unknown) => {
      end();
      reject(error);
      this.#lose(client, error);
    };
    // The deadline has two parts. If this process was busy in the first part, the response may have arrived, and is
    // read in the second part.
    let deadline = this.#deadlines.set(this.#options.boundMs - TICK_MS, () => {
      deadline = this.#deadlines.set(TICK_MS, () =>
        fail(new Error("the counter store did not respond in time")),
      );
    });
    Promise.try(() => client.send(command, args)).then((reply) => {
      end();
      resolve(reply);
    }, fail);
    return promise;
  }

  /** Closes the connection, which makes all its waiting commands fail immediately. */
  #lose(client: RedisClient, cause?: unknown): void {
    if (this.#current !== client) return;
    this.#current = null;
    client.close();
    if (this.#isClosed) return;
    this.#notify(false, cause);
    this.#cancelRetry = after(this.#pauseMs, () => void this.#connect());
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }

  #notify(isUp: boolean, cause?: unknown): void {
    if (this.#state === isUp) return;
    this.#state = isUp;
    this.#options.onState(isUp, cause);
  }
}
