import type { AlertStore } from "../alerts/ports.ts";
import type { WebhookQueue } from "../jobs/webhook-ports.ts";
import { Counters, Histograms, STORE_BUCKETS, TOTAL } from "./counters.ts";
import { counter, histogram, type MetricFamily } from "./metrics.ts";
import { METRICS } from "./metrics.table.ts";

/** Metrics of calls to the database and Redis, and of the webhooks and mails that the gateway sends. */
export class CallMetrics {
  readonly #database = new Histograms(METRICS.gateway_database_call_seconds.labels, [], STORE_BUCKETS);
  readonly #redis = new Histograms(METRICS.gateway_redis_call_seconds.labels, [], STORE_BUCKETS);
  readonly #webhooks = attempts();
  readonly #mails = attempts();

  /** Records a call to the database, also a failed call. */
  readonly databaseCall = (operation: string, seconds: number): void =>
    this.#database.observe([operation], seconds);

  /** Records a call to Redis, also a failed call. */
  readonly redisCall = (seconds: number): void => this.#redis.observe(TOTAL, seconds);

  /** Returns a copy of the webhook queue whose methods also count the outcomes of attempts. */
  webhooks(queue: WebhookQueue): WebhookQueue {
    return {
      ...queue,
      delivered: (...sent) => {
        this.#webhooks.add(["delivered"]);
        return queue.delivered(...sent);
      },
      failed: (id, result, retryMs) => {
        this.#webhooks.add([failureOf(retryMs)]);
        return queue.failed(id, result, retryMs);
      },
    };
  }

  /** Returns a copy of the store of alerts whose methods also count the outcomes of mails. */
  mails(store: AlertStore): AlertStore {
    return {
      ...store,
      mailSent: (id) => {
        this.#mails.add(["delivered"]);
        return store.mailSent(id);
      },
      mailFailed: (id, result, retryMs) => {
        this.#mails.add([failureOf(retryMs)]);
        return store.mailFailed(id, result, retryMs);
      },
    };
  }

  families(): MetricFamily[] {
    return [
      histogram("gateway_database_call_seconds", this.#database),
      histogram("gateway_redis_call_seconds", this.#redis),
      counter("gateway_webhooks_total", this.#webhooks.samples()),
      counter("gateway_mails_total", this.#mails.samples()),
    ];
  }
}

/** Returns counters of attempts at messages. They start at zero, so that the first increase is visible. */
function attempts(): Counters {
  const outcomes = new Counters(METRICS.gateway_webhooks_total.labels);
  for (const outcome of ["delivered", "retried", "given_up"]) outcomes.add([outcome], 0);
  return outcomes;
}

function failureOf(retryMs: number | null): string {
  return retryMs === null ? "given_up" : "retried";
}
