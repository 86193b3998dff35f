import { SimulatedResponse, listen, type ReceivedRequest } from "./http-server.ts";
import type { Fault, Behaviour } from "./behaviour.ts";

/** Handles a request of a vendor. `exchange` has the behaviour and records what is sent. */
export type Vendor = (
  request: ReceivedRequest,
  response: SimulatedResponse,
  exchange: HttpExchange,
) => Promise<void>;

/** A request and its result. Times are `performance.now()`. Null means not yet or never. */
export interface Hit extends ReceivedRequest {
  receivedAt: number;
  behaviour: Behaviour;
  /** The sent status; null before a status is sent. */
  readonly status: number | null;
  /** Time when the complete response was written to the socket. */
  respondedAt: number | null;
  /** Time when the client closed the connection before the response was complete. */
  closedAt: number | null;
  /** The usage report that was sent. */
  usage: unknown;
  /** Number of sent pictures, or of sent links to pictures. */
  pictures: number;
  json(): Record<string, unknown>;
}

export interface HttpExchange {
  hit: Hit;
  /**
   * Returns the behaviour for this request: the next queued one, else the chosen one, else the prompt's, else the
   * normal one.
   */
  takeBehaviour(fromPrompt: (() => Behaviour | undefined) | undefined): Behaviour;
  /** Must be called when a usage report has been written. */
  reportUsage(usage: unknown): void;
  /** Must be called when a response with this number of pictures has been written. */
  reportPictures(count: number): void;
}

/** The vendor's counts, which tests compare with the gateway's ledger. */
export interface Totals {
  /** Number of requests that arrived completely. */
  received: number;
  /** Number of responses with status 200 that were sent completely. */
  delivered: number;
  /** Usage reports of the delivered responses. */
  usages: unknown[];
  /** Number of sent pictures and of sent links to pictures. */
  pictures: number;
}

export interface Simulator extends AsyncDisposable {
  /** Base address, without the vendor's own path. */
  url: string;
  hits: readonly Hit[];
  readonly totals: Totals;
  /** Last time when a client closed a connection before its response was complete. */
  readonly closedAt: number | null;
  /** Queues a behaviour for each of the next requests. Queued behaviours have priority over markers in prompts. */
  next(...behaviours: (Fault | Behaviour)[]): void;
  /** Sets a function that chooses a behaviour when none is queued. Undefined selects the prompt's behaviour. */
  respondBy(choose: (hit: Hit) => Behaviour | undefined): void;
  /** Removes hits and queued behaviours. */
  reset(): void;
  /** Waits until this number of requests has arrived. */
  waitForHits(count: number): Promise<Hit>;
  /** Waits until clients have closed this number of connections early. */
  waitForClose(count?: number): Promise<number>;
  close(): Promise<void>;
}

/** Starts a simulated vendor on a free loopback port. */
export async function startSimulator(vendor: Vendor): Promise<Simulator> {
  const hits: Hit[] = [];
  const queue: Behaviour[] = [];
  let choose: (hit: Hit) => Behaviour | undefined = () => undefined;
  const listeners = new Set<() => void>();
  const notify = () => listeners.forEach((listener) => listener());
  const server = await listen(async (request, response) => {
    const hit = openHit(request, response);
    hits.push(hit);
    response.onClose(() => {
      hit.closedAt = performance.now();
      notify();
    });
    notify();
    await vendor(
      request,
      response,
      openExchange(hit, () => queue.shift() ?? choose(hit)),
    );
    if (response.isFinished) hit.respondedAt = performance.now();
    notify();
  });
  const until = <T>(read: () => T | undefined) => waitUntil(read, listeners);
  const closed = () => hits.flatMap(({ closedAt }) => (closedAt === null ? [] : [closedAt]));
  return {
    url: `http://127.0.0.1:${server.port}`,
    hits,
    get totals() {
      return countTotals(hits);
    },
    get closedAt() {
      return closed().at(-1) ?? null;
    },
    next: (...behaviours) => {
      queue.push(
        ...behaviours.map((behaviour) => (typeof behaviour === "string" ? { fault: behaviour } : behaviour)),
      );
    },
    respondBy: (chosen) => {
      choose = chosen;
    },
    reset: () => {
      hits.length = 0;
      queue.length = 0;
    },
    waitForHits: (count) => until(() => (hits.length >= count ? hits[count - 1] : undefined)),
    waitForClose: (count = 1) => until(() => closed()[count - 1]),
    close: server.close,
    [Symbol.asyncDispose]: server.close,
  };
}

function openHit(request: ReceivedRequest, response: SimulatedResponse): Hit {
  return {
    ...request,
    receivedAt: performance.now(),
    behaviour: {},
    get status() {
      return response.status;
    },
    respondedAt: null,
    closedAt: null,
    usage: undefined,
    pictures: 0,
    json: () => JSON.parse(request.body.toString("utf8")),
  };
}

function openExchange(hit: Hit, next: () => Behaviour | undefined): HttpExchange {
  return {
    hit,
    takeBehaviour: (fromPrompt) => (hit.behaviour = next() ?? fromPrompt?.() ?? {}),
    reportUsage: (usage) => (hit.usage = usage),
    reportPictures: (count) => (hit.pictures = count),
  };
}

function countTotals(hits: readonly Hit[]): Totals {
  const delivered = hits.filter((hit) => hit.respondedAt !== null && hit.status === 200);
  return {
    received: hits.length,
    delivered: delivered.length,
    usages: delivered.map((hit) => hit.usage).filter((usage) => usage !== undefined),
    pictures: hits.reduce((sum, hit) => sum + hit.pictures, 0),
  };
}

function waitUntil<T>(read: () => T | undefined, listeners: Set<() => void>): Promise<T> {
  return new Promise((resolve) => {
    const check = () => {
      const value = read();
      if (value === undefined) return;
      listeners.delete(check);
      resolve(value);
    };
    listeners.add(check);
    check();
  });
}
