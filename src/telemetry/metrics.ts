import type { RequestEvent } from "../domain/request-event.ts";
import { TOKEN_CATEGORIES } from "../domain/usage.ts";

/** Upper bounds of the duration buckets, in seconds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** A gauge whose value is asked for when metrics are read. */
export interface Gauge {
  name: string;
  help: string;
  value(): number;
}

interface RouteCounts {
  outcomes: Map<string | number, number>;
  buckets: number[];
  sum: number;
  count: number;
}

type Sample = readonly [labels: string, value: number];

/**
 * Counters in Prometheus' text format (version 0.0.4). Label values come from closed sets, so their number is
 * bounded.
 */
export class Metrics {
  readonly #routes = new Map<string, RouteCounts>();
  /** By channel, then by outcome. */
  readonly #attempts = new Map<string, Map<string, number>>();
  readonly #tokens = new Map<string, number>();
  #images = 0;

  constructor(private readonly gauges: readonly Gauge[] = []) {}

  /** Listens to requests. */
  readonly listener = (event: RequestEvent): void => {
    const counts = this.#countsOf(event.route);
    add(counts.outcomes, event.code ?? event.status, 1);
    const seconds = event.durationMs / 1000;
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1;
    counts.sum += seconds;
    counts.count++;
    for (const { channel, outcome } of event.attempts) add(this.#outcomesOf(channel), outcome, 1);
    const { usage } = event;
    if (usage?.unit === "image") this.#images += usage.count;
    if (usage?.unit !== "token") return;
    for (const category of TOKEN_CATEGORIES) {
      const count = usage.tokens[category];
      if (count) add(this.#tokens, category, count);
    }
  };

  /** Everything counted so far. */
  text(): string {
    const requests = [...this.#routes].flatMap(([route, { outcomes }]) =>
      [...outcomes].map(([outcome, count]): Sample => [`route="${route}",outcome="${outcome}"`, count]),
    );
    const attempts = [...this.#attempts].flatMap(([channel, outcomes]) =>
      [...outcomes].map(([outcome, count]): Sample => [`channel="${channel}",outcome="${outcome}"`, count]),
    );
    const tokens = [...this.#tokens].map(([category, count]): Sample => [`category="${category}"`, count]);
    return [
      family("gateway_requests_total", "Requests by route and outcome: a status or an error code.", requests),
      this.#durationText(),
      family("gateway_attempts_total", "Upstream calls by channel and outcome.", attempts),
      family("gateway_tokens_total", "Tokens used, by category.", tokens),
      single("gateway_images_total", "counter", "Images delivered.", this.#images),
      single("process_resident_memory_bytes", "gauge", "Resident memory.", process.memoryUsage.rss()),
      ...this.gauges.map(({ name, help, value }) => single(name, "gauge", help, value())),
    ].join("");
  }

  #countsOf(route: string): RouteCounts {
    let counts = this.#routes.get(route);
    if (!counts) {
      counts = { outcomes: new Map(), buckets: BUCKETS.map(() => 0), sum: 0, count: 0 };
      this.#routes.set(route, counts);
    }
    return counts;
  }

  #outcomesOf(channel: string): Map<string, number> {
    let outcomes = this.#attempts.get(channel);
    if (!outcomes) {
      outcomes = new Map();
      this.#attempts.set(channel, outcomes);
    }
    return outcomes;
  }

  #durationText(): string {
    const name = "gateway_request_duration_seconds";
    const lines = [
      `# HELP ${name} Time from the request's head to its last byte.\n# TYPE ${name} histogram\n`,
    ];
    for (const [route, { buckets, sum, count }] of this.#routes) {
      let total = 0;
      for (const [index, bound] of BUCKETS.entries()) {
        total += buckets[index] ?? 0;
        lines.push(`${name}_bucket{route="${route}",le="${bound}"} ${total}\n`);
      }
      lines.push(`${name}_bucket{route="${route}",le="+Inf"} ${count}\n`);
      lines.push(`${name}_sum{route="${route}"} ${sum}\n${name}_count{route="${route}"} ${count}\n`);
    }
    return lines.join("");
  }
}

function add<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function family(name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, count]) => `${name}{${labels}} ${count}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} counter\n${lines.join("")}`;
}

function single(name: string, type: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`;
}
