import type { RequestEvent } from "../domain/request-event.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES, type TokenCategory } from "../domain/usage.ts";

/** Upper bounds of the duration buckets, in seconds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** A metric whose value is read at each scrape. */
export interface Gauge {
  name: string;
  /** A gauge by default. */
  type?: "counter" | "gauge";
  help: string;
  value(): number;
}

interface RouteCounts {
  outcomes: Map<string | number, number>;
  buckets: number[];
  sum: number;
  count: number;
}

/** The samples of one metric name. */
export interface MetricFamily {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  samples: readonly Sample[];
}

/** Suffix of the family's name, labels without braces, and value. */
type Sample = readonly [suffix: string, labels: string, value: number];

/**
 * Counters in Prometheus' text format (version 0.0.4). Label values come from closed sets, so their number is
 * bounded.
 */
export class Metrics {
  readonly #routes = new Map<string, RouteCounts>();
  /** By channel, then by outcome. */
  readonly #attempts = new Map<string, Map<string, number>>();
  readonly #tokens = new Map<TokenCategory, number>();
  #images = 0;

  constructor(private readonly gauges: readonly Gauge[] = []) {}

  /** Counts a request. */
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
  families(): MetricFamily[] {
    const requests = [...this.#routes].flatMap(([route, { outcomes }]) =>
      [...outcomes].map(([outcome, count]): Sample => ["", `route="${route}",outcome="${outcome}"`, count]),
    );
    const attempts = [...this.#attempts].flatMap(([channel, outcomes]) =>
      [...outcomes].map(([outcome, count]): Sample => [
        "",
        `channel="${channel}",outcome="${outcome}"`,
        count,
      ]),
    );
    const tokens = [...this.#tokens].map(([category, count]): Sample => [
      "",
      `category="${TOKEN_CATEGORY_NAMES[category]}"`,
      count,
    ]);
    return [
      counter(
        "gateway_requests_total",
        "Requests by route and outcome: a status or an error code.",
        requests,
      ),
      {
        name: "gateway_request_duration_seconds",
        type: "histogram",
        help: "Time from the request's head to its last byte.",
        samples: [...this.#routes].flatMap(([route, counts]) => durations(route, counts)),
      },
      counter("gateway_attempts_total", "Upstream calls by channel and outcome.", attempts),
      counter("gateway_tokens_total", "Tokens used, by category.", tokens),
      counter("gateway_images_total", "Images delivered.", [["", "", this.#images]]),
      gauge("process_resident_memory_bytes", "Resident memory.", process.memoryUsage.rss()),
      ...this.gauges.map(({ name, help, value, type }) => ({
        ...gauge(name, help, value()),
        ...(type && { type }),
      })),
    ];
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
}

/**
 * The exposition text. Families of several processes are merged under one name and distinguished by the label
 * `process`; a single process has no such label.
 */
export function formatMetrics(processes: ReadonlyMap<number | null, readonly MetricFamily[]>): string {
  const all = [...processes].flatMap(([process, families]) =>
    families.map((family) => ({ ...family, own: process === null ? "" : `process="${process}"` })),
  );
  const texts = Map.groupBy(all, ({ name }) => name)
    .values()
    .map((group) => {
      const lines = group.flatMap(({ name, own, samples }) =>
        samples.map(([suffix, labels, value]) => {
          const joined = [own, labels].filter((part) => part !== "").join(",");
          return `${name}${suffix}${joined && `{${joined}}`} ${value}\n`;
        }),
      );
      const [first] = group;
      return first
        ? `# HELP ${first.name} ${first.help}\n# TYPE ${first.name} ${first.type}\n${lines.join("")}`
        : "";
    });
  return [...texts].join("");
}

function durations(route: string, { buckets, sum, count }: RouteCounts): Sample[] {
  let total = 0;
  const bounded = BUCKETS.map((bound, index): Sample => {
    total += buckets[index] ?? 0;
    return ["_bucket", `route="${route}",le="${bound}"`, total];
  });
  return [
    ...bounded,
    ["_bucket", `route="${route}",le="+Inf"`, count],
    ["_sum", `route="${route}"`, sum],
    ["_count", `route="${route}"`, count],
  ];
}

function add<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function counter(name: string, help: string, samples: readonly Sample[]): MetricFamily {
  return { name, type: "counter", help, samples };
}

function gauge(name: string, help: string, value: number): MetricFamily {
  return { name, type: "gauge", help, samples: [["", "", value]] };
}
