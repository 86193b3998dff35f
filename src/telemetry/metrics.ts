import type { RequestEvent } from "../domain/request-event.ts";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../domain/usage.ts";
import { Counters, Histograms, type Sample } from "./counters.ts";

/** A metric whose value is read at each scrape. */
export interface Gauge {
  name: string;
  /** A gauge by default. */
  type?: "counter" | "gauge";
  help: string;
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
  readonly #organizationRequests = new Counters(["organization", "outcome"], ["organization"]);
  readonly #attempts = new Counters(["channel", "outcome"]);
  readonly #attemptDurations = new Histograms(["channel", "upstream_model"], ["upstream_model"]);
  readonly #tokens = new Counters(["category", "model", "organization"], FOLDABLE);
  readonly #images = new Counters(["model", "organization"], FOLDABLE);
  readonly #charged = new Counters(["model", "organization", "channel", "currency"], FOLDABLE);
  readonly #durations = new Histograms(["route"]);
  readonly #firstBytes = new Histograms(["route", "model"], ["model"]);
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
      counter(
        "gateway_organization_requests_total",
        "Requests with a key by organization and outcome, those without a usable model included.",
        this.#organizationRequests.samples(),
      ),
      histogram(
        "gateway_request_duration_seconds",
        "Time from the request's head to its last byte.",
        this.#durations,
      ),
      histogram(
        "gateway_first_byte_seconds",
        "Time from the request's head to a stream's first content, by route and model.",
        this.#firstBytes,
      ),
      counter("gateway_attempts_total", "Upstream calls by channel and outcome.", this.#attempts.samples()),
      histogram(
        "gateway_attempt_duration_seconds",
        "Time of an upstream call until its reply was committed to or failed, by target.",
        this.#attemptDurations,
      ),
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
        this.#folded(),
      ),
      ...this.#gauges.map(({ name, help, value, type = "gauge" }): MetricFamily => ({
        name,
        type,
        help,
        samples: samplesOf(value()),
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

/** The family of a histogram. */
export function histogram(name: string, help: string, histograms: Histograms): MetricFamily {
  return { name, type: "histogram", help, samples: histograms.samples() };
}

/** The family of a counter; a number is its only sample. */
export function counter(name: string, help: string, samples: readonly Sample[] | number): MetricFamily {
  return { name, type: "counter", help, samples: samplesOf(samples) };
}

/** The family of a gauge; a number is its only sample. */
export function gauge(name: string, help: string, samples: readonly Sample[] | number): MetricFamily {
  return { name, type: "gauge", help, samples: samplesOf(samples) };
}

function samplesOf(samples: readonly Sample[] | number): readonly Sample[] {
  return typeof samples === "number" ? [["", "", samples]] : samples;
}
