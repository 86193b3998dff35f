import { Answer, listen, type ReceivedRequest } from "./connection.ts";
import type { Fault, Plan } from "./plan.ts";

/** What a vendor does with a request. `exchange` carries its plan and takes what it reports. */
export type Vendor = (request: ReceivedRequest, answer: Answer, exchange: HttpExchange) => Promise<void>;

/** One request and what became of it. Times are `performance.now()`; null is not yet, or never. */
export interface Hit extends ReceivedRequest {
  receivedAt: number;
  plan: Plan;
  /** Status that was sent; null while there is none. */
  readonly status: number | null;
  /** When the whole answer was handed to the system. */
  answeredAt: number | null;
  /** When the client closed the connection before the answer was whole. */
  closedAt: number | null;
  /** The usage that really went out. */
  usage: unknown;
  /** Pictures, or links to them, that really went out. */
  pictures: number;
  json(): Record<string, unknown>;
}

export interface HttpExchange {
  hit: Hit;
  /** The plan of this request: queued first, then the prompt's, which the vendor finds. */
  takePlan(fromPrompt: Plan | undefined): Plan;
  /** To be called when a usage report has been written. */
  reportUsage(usage: unknown): void;
  /** To be called when an answer with so many pictures has been written. */
  reportPictures(count: number): void;
}

/** The vendor's own ledger, to be compared with the gateway's. */
export interface Book {
  /** Requests that arrived whole. */
  received: number;
  /** Answers with a success status that went out whole. */
  answered: number;
  /** Usage reports of those answers. */
  usages: unknown[];
  /** Pictures that went out. */
  pictures: number;
}

export interface Simulator extends AsyncDisposable {
  /** Base address, without the vendor's own path. */
  url: string;
  hits: readonly Hit[];
  readonly book: Book;
  /** When a client last closed a connection before its answer was whole. */
  readonly closedAt: number | null;
  /** Queues how the next requests are answered, one plan each; these go before markers in prompts. */
  next(...plans: (Fault | Plan)[]): void;
  /** Forgets hits and queued plans. */
  reset(): void;
  /** Waits until so many requests have arrived. */
  waitForHits(count: number): Promise<Hit>;
  /** Waits until a client has closed so many connections early. */
  waitForClose(count?: number): Promise<number>;
  close(): Promise<void>;
}

/** Starts a simulated vendor on a free loopback port. */
export async function startSimulator(vendor: Vendor): Promise<Simulator> {
  const hits: Hit[] = [];
  const queue: Plan[] = [];
  const watchers = new Set<() => void>();
  const notify = () => watchers.forEach((watcher) => watcher());
  const server = await listen(async (request, answer) => {
    const hit = openHit(request, answer);
    hits.push(hit);
    answer.onClose(() => {
      hit.closedAt = performance.now();
      notify();
    });
    notify();
    await vendor(request, answer, openExchange(hit, queue));
    if (answer.isFinished) hit.answeredAt = performance.now();
    notify();
  });
  const until = <T>(read: () => T | undefined) => waitUntil(read, watchers);
  const closed = () => hits.flatMap(({ closedAt }) => (closedAt === null ? [] : [closedAt]));
  return {
    url: `http://127.0.0.1:${server.port}`,
    hits,
    get book() {
      return writeBook(hits);
    },
    get closedAt() {
      return closed().at(-1) ?? null;
    },
    next: (...plans) => {
      queue.push(...plans.map((plan) => (typeof plan === "string" ? { fault: plan } : plan)));
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

function openHit(request: ReceivedRequest, answer: Answer): Hit {
  return {
    ...request,
    receivedAt: performance.now(),
    plan: {},
    get status() {
      return answer.status;
    },
    answeredAt: null,
    closedAt: null,
    usage: undefined,
    pictures: 0,
    json: () => JSON.parse(request.body.toString("utf8")),
  };
}

function openExchange(hit: Hit, queue: Plan[]): HttpExchange {
  return {
    hit,
    takePlan: (fromPrompt) => (hit.plan = queue.shift() ?? fromPrompt ?? {}),
    reportUsage: (usage) => (hit.usage = usage),
    reportPictures: (count) => (hit.pictures = count),
  };
}

function writeBook(hits: readonly Hit[]): Book {
  const answered = hits.filter((hit) => hit.answeredAt !== null && hit.status === 200);
  return {
    received: hits.length,
    answered: answered.length,
    usages: answered.map((hit) => hit.usage).filter((usage) => usage !== undefined),
    pictures: hits.reduce((sum, hit) => sum + hit.pictures, 0),
  };
}

function waitUntil<T>(read: () => T | undefined, watchers: Set<() => void>): Promise<T> {
  return new Promise((resolve) => {
    const look = () => {
      const value = read();
      if (value === undefined) return;
      watchers.delete(look);
      resolve(value);
    };
    watchers.add(look);
    look();
  });
}
