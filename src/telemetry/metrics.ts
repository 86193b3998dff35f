import type { RequestEvent } from "../domain/request-event.ts";
import type { UpstreamErrorKind } from "../domain/upstream-error.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../domain/usage.ts";
import { Counters, Histograms, type Sample } from "./counters.ts";
import { METRICS, type MetricName, type MetricsOfType } from "./metrics.table.ts";

/** A metric whose value is read whenever the metrics are scraped. */
export interface Gauge {
  name: MetricsOfType<"counter" | "gauge">;
  value(): number;
}

/** All samples of one metric. */
export interface MetricFamily {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  samples: readonly Sample[];
}

/**
 * Metrics for Prometheus' text format (version 0.0.4). Callers cannot create series, because label values are from
 * closed sets or declared by operators (models, organizations, channels). A model that matches a pattern counts under
 * the id of the pattern. The number of series of a metric is limited.
 */
export class Metrics {
  readonly #requests = new Counters(METRICS.gateway_requests_total.labels);
  readonly #modelRequests = new Counters(METRICS.gateway_model_requests_total.labels, FOLDABLE);
  readonly #organizationRequests = new Counters(METRICS.gateway_organization_requests_total.labels, [
    "organization",
  ]);
  readonly #attempts = new Counters(METRICS.gateway_attempts_total.labels);
  readonly #attemptDurations = new Histograms(METRICS.gateway_attempt_duration_seconds.labels, [
    "upstream_model",
  ]);
  readonly #tokens = new Counters(METRICS.gateway_tokens_total.labels, FOLDABLE);
  readonly #images = new Counters(METRICS.gateway_images_total.labels, FOLDABLE);
  readonly #charged = new Counters(METRICS.gateway_charged_total.labels, FOLDABLE);
  readonly #durations = new Histograms(METRICS.gateway_request_duration_seconds.labels);
  readonly #firstBytes = new Histograms(METRICS.gateway_first_byte_seconds.labels, ["model"]);
  readonly #gauges: readonly Gauge[];
  readonly #others: readonly { families(): MetricFamily[] }[];
  readonly #channels: () => Iterable<string>;

  /** `channels` returns the ids of the channels that can be called. */
  constructor(
    gauges: readonly Gauge[] = [],
    others: readonly { families(): MetricFamily[] }[] = [],
    channels: () => Iterable<string> = () => [],
  ) {
    this.#gauges = gauges;
    this.#others = others;
    this.#channels = channels;
  }

  readonly listener = (event: RequestEvent): void => {
    const { route, organizationId, firstByteMs } = event;
    const outcome = String(event.code ?? event.status);
    const at = event.at + event.durationMs;
    this.#requests.add([route, outcome]);
    this.#durations.observe([route], event.durationMs / 1000);
    const model = event.modelPattern ?? event.model;
    if (firstByteMs !== null) this.#firstBytes.observe([route, model ?? "none"], firstByteMs / 1000, at);
    for (const attempt of event.attempts) {
      this.#attempts.add([attempt.channel, attempt.outcome]);
      const target = [attempt.channel, event.modelPattern ?? attempt.upstreamModel];
      this.#attemptDurations.observe(target, attempt.durationMs / 1000, at);
    }
    if (organizationId === null) return;
    this.#organizationRequests.add([organizationId, outcome], 1, at);
    if (model === null) return;
    this.#modelRequests.add([model, organizationId, outcome], 1, at);
    this.#countUsage(event, model, organizationId, at);
  };

  /** Returns the values of all metrics. */
  families(): MetricFamily[] {
    // Counters start at zero, so that the first failure is an increase. An ejected target may have no second failure.
    for (const channel of this.#channels())
      for (const outcome of VENDOR_FAULTS) this.#attempts.add([channel, outcome], 0);
    return [
      counter("gateway_requests_total", this.#requests.samples()),
      counter("gateway_model_requests_total", this.#modelRequests.samples()),
      counter("gateway_organization_requests_total", this.#organizationRequests.samples()),
      histogram("gateway_request_duration_seconds", this.#durations),
      histogram("gateway_first_byte_seconds", this.#firstBytes),
      counter("gateway_attempts_total", this.#attempts.samples()),
      histogram("gateway_attempt_duration_seconds", this.#attemptDurations),
      counter("gateway_tokens_total", this.#tokens.samples()),
      counter("gateway_images_total", this.#images.samples()),
      counter("gateway_charged_total", this.#charged.samples()),
      counter("gateway_metrics_folded_total", this.#folded()),
      ...this.#gauges.map(({ name, value }) => familyOf(name, samplesOf(value()))),
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
    const folding = [
      this.#modelRequests,
      this.#organizationRequests,
      this.#tokens,
      this.#images,
      this.#charged,
      this.#firstBytes,
      this.#attemptDurations,
    ];
    return folding.reduce((sum, { folded }) => sum + folded, 0);
  }
}

/** Labels that may have too many values. `other` replaces their values in this order. */
const FOLDABLE = ["organization", "model"];

/** Outcomes of calls that are the vendor's failures. */
const VENDOR_FAULTS: readonly UpstreamErrorKind[] = [
  "unreachable",
  "timeout",
  "overloaded",
  "limited",
  "account",
  "broken",
];

const NANOS = 1e9;

/**
 * Writes the exposition text. Merges the families of several processes by name; then the label `process` identifies the
 * process. A single process has no such label.
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

/** Returns the family (all samples) of a histogram. */
export function histogram(name: MetricsOfType<"histogram">, histograms: Histograms): MetricFamily {
  return familyOf(name, histograms.samples());
}

/** Returns the family of a counter. A number becomes the only sample. */
export function counter(name: MetricsOfType<"counter">, samples: readonly Sample[] | number): MetricFamily {
  return familyOf(name, samplesOf(samples));
}

/** Returns the family of a gauge. A number becomes the only sample. */
export function gauge(name: MetricsOfType<"gauge">, samples: readonly Sample[] | number): MetricFamily {
  return familyOf(name, samplesOf(samples));
}

function familyOf(name: MetricName, samples: readonly Sample[]): MetricFamily {
  const { type, help } = METRICS[name];
  return { name, type, help, samples };
}

function samplesOf(samples: readonly Sample[] | number): readonly Sample[] {
  return typeof samples === "number" ? [["", "", samples]] : samples;
}
