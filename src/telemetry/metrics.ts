import type { RequestEvent } from "../domain/request-event.ts";

/** Upper bounds of the duration buckets, in seconds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** A gauge whose value is asked for when metrics are read. */
export interface Gauge {
  name: string;
  help: string;
  value(): number;
}

/**
 * Counters in Prometheus' text format (version 0.0.4). Label values come from closed sets, so their number is
 * bounded.
 */
export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #durations = new Map<string, { buckets: number[]; sum: number; count: number }>();
  readonly #attempts = new Map<string, number>();
  readonly #tokens = new Map<string, number>();
  #images = 0;

  constructor(private readonly gauges: readonly Gauge[] = []) {}

  /** Listens to requests. */
  readonly listener = (event: RequestEvent): void => {
    const { route, status, code, usage } = event;
    add(this.#requests, `route="${route}",status="${status}",code="${code ?? ""}"`, 1);
    this.#observe(route, event.durationMs / 1000);
    for (const { channel, outcome } of event.attempts) add(this.#attempts, `channel="${channel}",outcome="${outcome}"`, 1);
    if (usage?.unit === "image") this.#images += usage.count;
    if (usage?.unit !== "token") return;
    for (const [category, count] of Object.entries(usage.tokens)) add(this.#tokens, `category="${category}"`, count);
  };

  /** Everything counted so far. */
  text(): string {
    const memory = process.memoryUsage.rss();
    return [
      family("gateway_requests_total", "counter", "Requests by route, status and error code.", this.#requests),
      this.#durationText(),
      family("gateway_attempts_total", "counter", "Upstream calls by channel and outcome.", this.#attempts),
      family("gateway_tokens_total", "counter", "Tokens used, by category.", this.#tokens),
      single("gateway_images_total", "counter", "Images delivered.", this.#images),
      single("process_resident_memory_bytes", "gauge", "Resident memory.", memory),
      ...this.gauges.map(({ name, help, value }) => single(name, "gauge", help, value())),
    ].join("");
  }

  #observe(route: string, seconds: number): void {
    let duration = this.#durations.get(route);
    if (!duration) {
      duration = { buckets: BUCKETS.map(() => 0), sum: 0, count: 0 };
      this.#durations.set(route, duration);
    }
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) duration.buckets[bucket] = (duration.buckets[bucket] ?? 0) + 1;
    duration.sum += seconds;
    duration.count++;
  }

  #durationText(): string {
    const name = "gateway_request_duration_seconds";
    const lines = [`# HELP ${name} Time from the request's head to its last byte.\n# TYPE ${name} histogram\n`];
    for (const [route, { buckets, sum, count }] of this.#durations) {
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

function add(counts: Map<string, number>, labels: string, by: number): void {
  counts.set(labels, (counts.get(labels) ?? 0) + by);
}

function family(name: string, type: string, help: string, counts: ReadonlyMap<string, number>): string {
  const lines = [...counts].map(([labels, count]) => `${name}{${labels}} ${count}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function single(name: string, type: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`;
}
