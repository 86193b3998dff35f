import { type Address, ClientConnection, type ConnectionEvents } from "./client-connection.ts";
import type { Machine } from "./machine.ts";
import { startMetronome } from "./metronome.ts";

/** A running load. Responses are counted between `openWindow` and `closeWindow`. */
export interface Load {
  processIds: readonly number[];
  openWindow(): void;
  closeWindow(): Tally;
  stop(): void;
}

export interface Tally {
  elapsedMs: number;
  completed: number;
  /** Number of lost connections and of responses with an unexpected status. */
  failed: number;
  /** Number of body bytes received in the window, including bytes of unfinished responses. */
  bodyBytes: number;
  /** Time to a response's last byte, from sending or, in an open loop, from the due time of the request. */
  latenciesMs: number[];
  /** Time to the body's first byte, counted from the same moment as `latenciesMs`. Responses without a body have none. */
  firstBytesMs: number[];
}

export interface LoadPlan {
  address: Address;
  /** Requests that are sent in order, again and again. */
  requests: readonly Buffer[];
  expectedStatus: number;
}

/**
 * Closed loop: a connection sends its next request when the previous response is complete. Used for capacity, for
 * processor time, and for streams, whose length the mock determines. `spreadMs` staggers the first requests.
 */
export async function startClosedLoop(
  plan: LoadPlan & { connections: number; spreadMs?: number },
): Promise<Load> {
  const counter = new Counter(plan);
  let isRunning = true;
  const sendNext = (connection: ClientConnection): void => {
    if (isRunning) connection.send(counter.nextRequest());
  };
  const connections = await openConnections(plan.address, plan.connections, {
    onReply(connection) {
      counter.count(connection, connection.sentAt);
      sendNext(connection);
    },
    onBody: (_, start, end) => counter.countBody(start, end),
    onLost: () => counter.countLost(),
  });
  const gapMs = (plan.spreadMs ?? 0) / plan.connections;
  connections.forEach((connection, index) => setTimeout(() => sendNext(connection), index * gapMs));
  return counter.asLoad([process.pid], () => {
    isRunning = false;
    for (const connection of connections) connection.close();
  });
}

/**
 * Open loop: requests are due at a fixed rate, and latency counts from the due time. So a stall adds to the latency of
 * every request that the stall delays.
 */
export async function startOpenLoop(
  plan: LoadPlan & { machine: Machine; requestsPerSecond: number; connections: number },
): Promise<Load> {
  const counter = new Counter(plan);
  const dueAt = new Map<ClientConnection, number>();
  const waiting: number[] = [];
  const send = (connection: ClientConnection, due: number): void => {
    dueAt.set(connection, due);
    connection.send(counter.nextRequest());
  };
  const idle = await openConnections(plan.address, plan.connections, {
    onReply(connection) {
      counter.count(connection, dueAt.get(connection) ?? connection.sentAt);
      const due = waiting.shift();
      if (due === undefined) idle.push(connection);
      else send(connection, due);
    },
    onBody: (_, start, end) => counter.countBody(start, end),
    onLost: () => counter.countLost(),
  });
  const all = [...idle];
  const metronome = startMetronome(plan.machine, plan.requestsPerSecond, (due) => {
    const connection = idle.pop();
    if (connection) send(connection, due);
    else waiting.push(due);
  });
  return counter.asLoad([process.pid, metronome.processId], () => {
    metronome.stop();
    for (const connection of all) connection.close();
  });
}

function openConnections(
  address: Address,
  count: number,
  events: ConnectionEvents,
): Promise<ClientConnection[]> {
  return Promise.all(Array.from({ length: count }, () => ClientConnection.open(address, events)));
}

/** Counts responses in the window. */
class Counter {
  #tally = emptyTally();
  #openedAt = 0;
  #next = 0;

  constructor(readonly plan: LoadPlan) {}

  nextRequest(): Buffer {
    const request = this.plan.requests[this.#next++ % this.plan.requests.length];
    if (!request) throw new Error("A load needs at least one request.");
    return request;
  }

  count(connection: ClientConnection, startedAt: number): void {
    const tally = this.#tally;
    if (connection.status !== this.plan.expectedStatus) tally.failed++;
    else tally.completed++;
    tally.latenciesMs.push(performance.now() - startedAt);
    if (connection.firstByteAt > 0) tally.firstBytesMs.push(connection.firstByteAt - startedAt);
  }

  countBody(start: number, end: number): void {
    this.#tally.bodyBytes += end - start;
  }

  countLost(): void {
    this.#tally.failed++;
  }

  asLoad(processIds: readonly number[], stop: () => void): Load {
    return {
      processIds,
      openWindow: () => {
        this.#openedAt = performance.now();
        this.#tally = emptyTally();
      },
      closeWindow: () => ({ ...this.#tally, elapsedMs: performance.now() - this.#openedAt }),
      stop,
    };
  }
}

function emptyTally(): Tally {
  return { elapsedMs: 0, completed: 0, failed: 0, bodyBytes: 0, latenciesMs: [], firstBytesMs: [] };
}
