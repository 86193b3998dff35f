import { type HistogramSeries, Histograms } from "../counters.ts";
import type { Measurement } from "./record.ts";

/** One metric for the collector, with all values since the start. `postMessage` can clone this object. */
export interface ExportedMetric {
  name: string;
  unit: string;
  /** Names of the attributes. Attributes with empty values are not exported. */
  attributes: readonly string[];
  /** Upper bounds of the buckets. */
  bounds: readonly number[];
  series: readonly HistogramSeries[];
}

/** Bounds of buckets from OpenTelemetry's conventions for generative AI. Durations are in seconds. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

const CALL = [
  "gen_ai.operation.name",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "gen_ai.response.model",
];
const WITH_ERROR = [...CALL, "error.type"];
const WITH_TYPE = [...CALL, "gen_ai.token.type"];
/** Attributes that may have many values, because callers can choose model names. */
const FOLDABLE = ["gen_ai.response.model", "gen_ai.request.model"];

/**
 * Metrics of OpenTelemetry's conventions for generative AI. This thread adds up the values, with a few additions per
 * request. The exporting thread receives only the sums.
 */
export class GenAiMetrics {
  readonly #durations = new Histograms(WITH_ERROR, FOLDABLE, SECONDS);
  readonly #firstChunks = new Histograms(CALL, FOLDABLE, SECONDS);
  readonly #tokens = new Histograms(WITH_TYPE, FOLDABLE, TOKENS);

  add(measured: Measurement, at: number): void {
    const { operation, provider, model, upstreamModel, error, durationMs, firstByteMs } = measured;
    const response = upstreamModel ?? "";
    this.#durations.observe([operation, provider, model, response, error ?? ""], durationMs / 1000, at);
    if (firstByteMs !== null)
      this.#firstChunks.observe([operation, provider, model, response], firstByteMs / 1000, at);
    const { inputTokens, outputTokens } = measured;
    if (inputTokens === null || outputTokens === null) return;
    this.#tokens.observe([operation, provider, model, response, "input"], inputTokens, at);
    this.#tokens.observe([operation, provider, model, response, "output"], outputTokens, at);
  }

  exported(): ExportedMetric[] {
    return [
      exportedOf("gen_ai.client.operation.duration", "s", this.#durations),
      exportedOf("gen_ai.client.operation.time_to_first_chunk", "s", this.#firstChunks),
      exportedOf("gen_ai.client.token.usage", "{token}", this.#tokens),
    ];
  }
}

function exportedOf(name: string, unit: string, histograms: Histograms): ExportedMetric {
  return { name, unit, attributes: histograms.names, bounds: histograms.bounds, series: histograms.series() };
}
