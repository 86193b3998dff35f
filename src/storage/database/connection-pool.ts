import { createSemaphore, type Semaphore } from "../../lib/semaphore.ts";
import type { PostgresConnection } from "./postgres-connect.ts";
import { isConnectionLost } from "./unavailable.ts";

/**
 * A pool of connections to PostgreSQL. Each connection is used by one call at a time. When a call is aborted, its
 * connection is closed; the driver's own pool would keep a connection on which the network has failed.
 */
interface ConnectionPool {
  /** Runs `work` on a connection. When the signal aborts, the connection is closed, which ends the query on it. */
  use<T>(signal: AbortSignal, work: (connection: PostgresConnection) => Promise<T>): Promise<T>;
  /** Closes every connection. A query that still runs after one second fails. */
  close(): Promise<void>;
}

interface Connection {
  opened: PostgresConnection;
  openedAt: number;
  /** Monotonic milliseconds at which the server last responded. */
  respondedAt: number;
}

/**
 * Maximum age of a connection. Older connections are replaced. So all connections move to a new server soon after the
 * host name points to that server.
 */
const LIFETIME_MS = 30 * 60_000;
const CLOSE_TIMEOUT_SECONDS = 1;

type Connect = (signal: AbortSignal) => Promise<PostgresConnection>;

/** Opens a pool of at most `size` connections. A connection is made only when it is needed. */
export function connectionPool(size: number, connect: Connect, lifetimeMs = LIFETIME_MS): ConnectionPool {
  return new Pool(size, connect, lifetimeMs);
}

class Pool implements ConnectionPool {
  readonly #slots: Semaphore;
  readonly #connect: Connect;
  readonly #lifetimeMs: number;
  readonly #open = new Set<Connection>();
  #idle: Connection[] = [];
  #isClosed = false;

  constructor(size: number, connect: Connect, lifetimeMs: number) {
    this.#slots = createSemaphore(size);
    this.#connect = connect;
    this.#lifetimeMs = lifetimeMs;
  }

  async use<T>(signal: AbortSignal, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    using _slot = await this.#slots.acquire(signal);
    const connection = await this.#take(signal);
    const startedAt = performance.now();
    const giveUp = () => {
      this.#discard(connection);
      this.#discardSilent(startedAt);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      return await work(connection.opened);
    } catch (error) {
      if (isConnectionLost(error)) this.#discard(connection);
      throw error;
    } finally {
      signal.removeEventListener("abort", giveUp);
      this.#giveBack(connection);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#open].map(({ opened }) => opened.sql.close({ timeout: CLOSE_TIMEOUT_SECONDS })),
    );
    this.#open.clear();
  }

  /** Takes the connection that was used last, so that the other connections age and close after a peak of load. */
  async #take(signal: AbortSignal): Promise<Connection> {
    const now = performance.now();
    for (let last = this.#idle.pop(); last; last = this.#idle.pop()) {
      if (now - last.openedAt < this.#lifetimeMs && !last.opened.hasEnded) return last;
      this.#discard(last);
    }
    const connection = { opened: await this.#connect(signal), openedAt: now, respondedAt: now };
    this.#open.add(connection);
    if (this.#isClosed) this.#discard(connection);
    return connection;
  }

  #giveBack(connection: Connection): void {
    if (this.#isClosed || !this.#open.has(connection)) return;
    connection.respondedAt = performance.now();
    this.#idle.push(connection);
  }

  #discard(connection: Connection): void {
    if (!this.#open.delete(connection)) return;
    void connection.opened.sql.close({ timeout: 0 }).catch(() => undefined);
  }

  /**
   * Closes idle connections that got no response since the start of a call that was aborted. The network may have
   * failed for these connections, too.
   */
  #discardSilent(since: number): void {
    const [silent = [], sound = []] = [false, true].map((isSound) =>
      this.#idle.filter(({ respondedAt }) => respondedAt >= since === isSound),
    );
    this.#idle = sound;
    for (const connection of silent) this.#discard(connection);
  }
}
