import type { SQL } from "bun";
import { createSemaphore } from "../../lib/semaphore.ts";
import { isConnectionLost } from "./unavailable.ts";

/**
 * Connections to PostgreSQL, each used by one call at a time. The driver's own pool keeps a connection on which the
 * network has gone silent; this one closes a connection with the call that was given up on it.
 */
export interface ConnectionPool {
  /** Runs `work` on a connection. When the signal aborts, the connection is closed and so is the work's query. */
  use<T>(signal: AbortSignal, work: (sql: SQL) => Promise<T>): Promise<T>;
  /** Closes every connection; queries still running after a second fail. */
  close(): Promise<void>;
}

interface Connection {
  sql: SQL;
  openedAt: number;
  /** When the server last responded. */
  heardAt: number;
}

/** A connection older than this is replaced, so that all move to another server after a switch of names. */
const LIFETIME_MS = 30 * 60_000;
const CLOSE_TIMEOUT_SECONDS = 1;

export function connectionPool(size: number, connect: () => SQL, lifetimeMs = LIFETIME_MS): ConnectionPool {
  const slots = createSemaphore(size);
  const open = new Set<Connection>();
  const idle: Connection[] = [];
  let isClosed = false;

  /** The one used last, so that a pool which was large for a moment leaves the others to age. */
  function take(): Connection {
    const now = performance.now();
    for (let last = idle.pop(); last; last = idle.pop()) {
      if (now - last.openedAt < lifetimeMs) return last;
      discard(last);
    }
    const connection = { sql: connect(), openedAt: now, heardAt: now };
    open.add(connection);
    return connection;
  }

  function giveBack(connection: Connection): void {
    if (isClosed || !open.has(connection)) return;
    connection.heardAt = performance.now();
    idle.push(connection);
  }

  function discard(connection: Connection): void {
    if (!open.delete(connection)) return;
    void connection.sql.close({ timeout: 0 }).catch(() => undefined);
  }

  /** The network may have gone silent for all: idle connections that proved nothing since are not trusted either. */
  function discardSilent(since: number): void {
    const silent = idle.filter(({ heardAt }) => heardAt < since);
    idle.splice(0, idle.length, ...idle.filter(({ heardAt }) => heardAt >= since));
    for (const connection of silent) discard(connection);
  }

  return {
    async use(signal, work) {
      using _slot = await slots.acquire(signal);
      const connection = take();
      const startedAt = performance.now();
      const giveUp = () => {
        discard(connection);
        discardSilent(startedAt);
      };
      signal.addEventListener("abort", giveUp, { once: true });
      try {
        return await work(connection.sql);
      } catch (error) {
        if (isConnectionLost(error)) discard(connection);
        throw error;
      } finally {
        signal.removeEventListener("abort", giveUp);
        giveBack(connection);
      }
    },
    async close() {
      isClosed = true;
      await Promise.all([...open].map(({ sql }) => sql.close({ timeout: CLOSE_TIMEOUT_SECONDS })));
      open.clear();
    },
  };
}
