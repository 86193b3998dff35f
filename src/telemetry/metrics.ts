import type { RequestEvent } from "../domain/request-event.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../domain/usage.ts";
import { Counters, Histograms, type Sample } from "./counters.ts";

/** A metric whose value is read at each scrape. */
export interface Gauge {
  name: string;
  /** A gauge by default. */
  type?: "counter" | "gauge";
  help: string;
  /** Labels without braces; none by default. */
  labels?: string;
  value(): number;
}

/** The samples of one metric name. */
export interface MetricFamily {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  samples: readonly Sample[];
}

/**
 * Counters in Prometheus' text format (version 0.0.4). Label values are routes, outcomes, and ids of models that are
 * declared, of organizations and channels that exist; a model that a pattern covers counts under the pattern's id, so
 * that no caller can make series. The number of series of a metric is bounded.
 */
export class Metrics {
  readonly #requests = new Counters(["route", "outcome"]);
  readonly #modelRequests = new Counters(["model", "organization", "outcome"], FOLDABLE);
  readonly #attempts = new Counters(["channel", "outcome"]);
  readonly #tokens = new Counters(["category", "model", "organization"], FOLDABLE);
  readonly #images = new Counters(["model", "organization"], FOLDABLE);
  readonly #charged = new Counters(["model", "organization", "channel", "currency"], FOLDABLE);
  readonly #durations = new Histograms("route");
  readonly #firstBytes = new Histograms("route");
  readonly #gauges: readonly Gauge[];
  readonly #others: readonly { families(): MetricFamily[] }[];

  constructor(gauges: readonly Gauge[] = [], others: readonly { families(): MetricFamily[] }[] = []) {
    this.#gauges = gauges;
    this.#others = others;
  }

  /** Counts a request. */
  readonly listener = (event: RequestEvent): void => {
    const { route, organizationId, firstByteMs } = event;
    const outcome = String(event.code ?? event.status);
    const at = event.at + event.durationMs;
    this.#requests.add([route, outcome]);
    this.#durations.observe(route, event.durationMs / 1000);
    if (firstByteMs !== null) this.#firstBytes.observe(route, firstByteMs / 1000);
    for (const attempt of event.attempts) this.#attempts.add([attempt.channel, attempt.outcome]);
    const model = event.modelPattern ?? event.model;
    if (model === null || organizationId === null) return;
    this.#modelRequests.add([model, organizationId, outcome], 1, at);
    this.#countUsage(event, model, organizationId, at);
  };

  /** Returns all counts so far. */
  families(): MetricFamily[] {
    return [
      counter(
        "gateway_requests_total",
        "Requests by route and outcome: a status or an error code.",
        this.#requests.samples(),
      ),
      counter(
        "gateway_model_requests_total",
        "Requests by model, organization and outcome.",
        this.#modelRequests.samples(),
      ),
      {
        name: "gateway_request_duration_seconds",
        type: "histogram",
        help: "Time from the request's head to its last byte.",
        samples: this.#durations.samples(),
      },
      {
        name: "gateway_first_byte_seconds",
        type: "histogram",
        help: "Time from the request's head to a stream's first content.",
        samples: this.#firstBytes.samples(),
      },
      counter("gateway_attempts_total", "Upstream calls by channel and outcome.", this.#attempts.samples()),
      counter(
        "gateway_tokens_total",
        "Tokens used, by category, model and organization.",
        this.#tokens.samples(),
      ),
      counter("gateway_images_total", "Images delivered, by model and organization.", this.#images.samples()),
      counter(
        "gateway_charged_total",
        "Charged amounts in units of the currency; the ledger is exact.",
        this.#charged.samples(),
      ),
      counter(
        "gateway_metrics_folded_total",
        "Additions to series in which a label is `other`, because a metric had too many.",
        [["", "", this.#folded()]],
      ),
      gauge("process_resident_memory_bytes", "Resident memory.", process.memoryUsage.rss()),
      ...this.#gauges.map(({ name, help, value, type = "gauge", labels = "" }): MetricFamily => ({
        name,
        type,
        help,
        samples: [["", labels, value()]],
      })),
      ...this.#others.flatMap((other) => other.families()),
    ];
  }

  #countUsage(
    { usage, channel, currency, amount }: RequestEvent,
    model: string,
    organization: string,
    at: number,
  ): void {
    if (currency !== null)
      this.#charged.add([model, organization, channel ?? "none", currency], Number(amount) / NANOS, at);
    if (usage?.unit === "image") this.#images.add([model, organization], usage.count, at);
    if (usage?.unit !== "token") return;
    for (const category of TOKEN_CATEGORIES) {
      const count = usage.tokens[category];
      if (count) this.#tokens.add([TOKEN_CATEGORY_NAMES[category], model, organization], count, at);
    }
  }

  #folded(): number {
    const folding = [this.#modelRequests, this.#tokens, this.#images, this.#charged];
    return folding.reduce((sum, { folded }) => sum + folded, 0);
  }
}

/** Labels that may get too many values, the first one to give up first. */
const FOLDABLE = ["organization", "model"];

const NANOS = 1e9;

/**
 * Writes the exposition text. Families of several processes are merged under one name and distinguished by the label
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

function counter(name: string, help: string, samples: readonly Sample[]): MetricFamily {
  return { name, type: "counter", help, samples };
}

function gauge(name: string, help: string, value: number): MetricFamily {
  return { name, type: "gauge", help, samples: [["", "", value]] };
}
