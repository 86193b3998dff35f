import { Counters, Histograms, STORE_BUCKETS, TOTAL } from "./counters.ts";
import { counter, histogram, type MetricFamily } from "./metrics.ts";

/** Metrics of calls to the stores, and of the messages that leave the gateway by itself. */
export class CallMetrics {
  readonly #database = new Histograms(["operation"], [], STORE_BUCKETS);
  readonly #redis = new Histograms([], [], STORE_BUCKETS);
  readonly #webhooks = new Counters(["outcome"]);
  readonly #mails = new Counters(["outcome"]);

  /** Records a call to the database, failed ones included. */
  readonly databaseCall = (operation: string, seconds: number): void =>
    this.#database.observe([operation], seconds);

  /** Records a call to Redis, failed ones included. */
  readonly redisCall = (seconds: number): void => this.#redis.observe(TOTAL, seconds);

  /** Counts the results of messages: returns the store with its methods counted. */
  webhooks<Queue extends MessageQueue>(queue: Queue): Queue {
    return counted(queue, this.#webhooks, { sent: "delivered", failed: "failed" });
  }

  /** The same of mails. */
  mails<Store extends MailQueue>(store: Store): Store {
    return counted(store, this.#mails, { sent: "mailSent", failed: "mailFailed" });
  }

  families(): MetricFamily[] {
    return [
      histogram(
        "gateway_database_call_seconds",
        "Time of a call to the database with its wait for a connection, by operation.",
        this.#database,
      ),
      histogram("gateway_redis_call_seconds", "Time of a call to Redis.", this.#redis),
      counter(
        "gateway_webhooks_total",
        "Attempts at webhooks by outcome: delivered, retried or given_up.",
        this.#webhooks.samples(),
      ),
      counter(
        "gateway_mails_total",
        "Attempts at mails by outcome: delivered, retried or given_up.",
        this.#mails.samples(),
      ),
    ];
  }
}

type Fail = (id: string, result: string, retryMs: number | null) => Promise<void>;

interface MessageQueue {
  delivered(id: string, result: string): Promise<void>;
  failed: Fail;
}

interface MailQueue {
  mailSent(id: string): Promise<void>;
  mailFailed: Fail;
}

/** The store's methods that end an attempt at a message. */
interface Ends<Store> {
  sent: keyof Store;
  failed: keyof Store;
}

function counted<Store>(store: Store, outcomes: Counters, { sent, failed }: Ends<Store>): Store {
  // From the start on, so that an increase from none shows.
  for (const outcome of ["delivered", "retried", "given_up"]) outcomes.add([outcome], 0);
  const end = store[sent] as (...args: unknown[]) => Promise<void>;
  const fail = store[failed] as Fail;
  return {
    ...store,
    [sent](...args: unknown[]) {
      outcomes.add(["delivered"]);
      return end.apply(store, args);
    },
    [failed](...args: Parameters<Fail>) {
      outcomes.add([args[2] === null ? "given_up" : "retried"]);
      return fail.apply(store, args);
    },
  };
}
