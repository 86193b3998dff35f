import { BoundedSeries, Histogram, MAX_HISTOGRAMS } from "../counters.ts";
import type { Measurement } from "./record.ts";

/** One metric for the collector, with all values since the start. `postMessage` can clone it. */
export interface ExportedMetric {
  name: string;
  unit: string;
  series: readonly ExportedSeries[];
}

interface ExportedSeries {
  attributes: Record<string, string>;
  histogram: Omit<Histogram, "observe">;
}

/** Bounds of buckets from OpenTelemetry's conventions for generative AI. `SECONDS` is for durations. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

const ATTRIBUTES = [
  "gen_ai.operation.name",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "gen_ai.response.model",
];
/** Attributes that may have many values, because callers choose the upstream names of models that match a pattern. */
const FOLDABLE = ["gen_ai.response.model", "gen_ai.request.model"];

/** The histograms of all requests with equal attributes. One search per request finds all of them. */
class CallHistograms {
  /** Durations of calls by error code, which is empty for success. */
  readonly durations = new Map<string, Histogram>();
  readonly firstChunks = new Histogram(SECONDS);
  readonly inputTokens = new Histogram(TOKENS);
  readonly outputTokens = new Histogram(TOKENS);
}

/**
 * Metrics of OpenTelemetry's conventions for generative AI. The thread of the requests adds up the values, with a few
 * additions per request. The exporting thread receives only the sums.
 */
export class GenAiMetrics {
  readonly #calls = new BoundedSeries(ATTRIBUTES, FOLDABLE, MAX_HISTOGRAMS, () => new CallHistograms());

  add(measured: Measurement, at: number): void {
    const { operation, provider, model, upstreamModel, durationMs, firstByteMs } = measured;
    const call = this.#calls.open([operation, provider, model, upstreamModel ?? ""], at);
    const error = measured.error ?? "";
    let durations = call.durations.get(error);
    if (!durations) call.durations.set(error, (durations = new Histogram(SECONDS)));
    durations.observe(durationMs / 1000);
    if (firstByteMs !== null) call.firstChunks.observe(firstByteMs / 1000);
    const { inputTokens, outputTokens } = measured;
    if (inputTokens === null || outputTokens === null) return;
    call.inputTokens.observe(inputTokens);
    call.outputTokens.observe(outputTokens);
  }

  exported(): ExportedMetric[] {
    const calls = [...this.#calls.byValues()];
    const exported = (name: string, unit: string, of: (call: CallHistograms) => Own[]): ExportedMetric => ({
      name,
      unit,
      series: calls.flatMap(([values, call]) => of(call).flatMap((own) => seriesOf(values, own))),
    });
    return [
      exported("gen_ai.client.operation.duration", "s", ({ durations }) =>
        Array.from(durations, ([error, histogram]): Own => [histogram, "error.type", error]),
      ),
      exported("gen_ai.client.operation.time_to_first_chunk", "s", ({ firstChunks }) => [[firstChunks]]),
      exported("gen_ai.client.token.usage", "{token}", ({ inputTokens, outputTokens }) => [
        [inputTokens, "gen_ai.token.type", "input"],
        [outputTokens, "gen_ai.token.type", "output"],
      ]),
    ];
  }
}

/** A histogram of some calls. The attribute, if any, distinguishes it from other histograms of its metric. */
type Own = readonly [histogram: Histogram, attribute?: string, value?: string];

function seriesOf(values: readonly string[], [histogram, attribute, value]: Own): ExportedSeries[] {
  if (histogram.count === 0) return [];
  const pairs = ATTRIBUTES.map((name, index) => [name, values[index]]);
  if (attribute !== undefined) pairs.push([attribute, value]);
  return [{ attributes: Object.fromEntries(pairs.filter(([, text]) => text)), histogram }];
}
