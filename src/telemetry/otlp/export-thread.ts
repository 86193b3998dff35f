import { parentPort, workerData } from "node:worker_threads";
import { ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { lowerThisThread } from "../../lib/thread-priority.ts";
import type { ExportSetup, ExportWord } from "./exporter.ts";
import type { Measurement } from "./record.ts";
import { contentAttributes, contextOf, spansOf } from "./spans.ts";

/*
 * The thread that makes spans, metrics and events of records and sends them to the collector, through the official
 * libraries. It says when it has sent a batch, and only then gets the next one.
 */
const TIMEOUT_MS = 5_000;
const METRICS_MS = 10_000;
/** Bounds of buckets as the conventions for generative AI have them. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

lowerThisThread();
const { endpoint, headers, serviceName, instance, version } = workerData as ExportSetup;
const resource = resourceFromAttributes({
  "service.name": serviceName,
  "service.version": version,
  "service.instance.id": instance,
});
const at = (signal: string) => ({ url: `${endpoint}/v1/${signal}`, headers, timeoutMillis: TIMEOUT_MS });
const scope = { resource, name: "model-inference-gateway", version };
const traces = new OTLPTraceExporter(at("traces"));
const reader = new PeriodicExportingMetricReader({
  exporter: new OTLPMetricExporter(at("metrics")),
  exportIntervalMillis: METRICS_MS,
  exportTimeoutMillis: TIMEOUT_MS,
});
const meter = new MeterProvider({ resource, readers: [reader] }).getMeter(scope.name, version);
const histogram = (name: string, unit: string, bounds: number[]) =>
  meter.createHistogram(name, { unit, advice: { explicitBucketBoundaries: bounds } });
const durations = histogram("gen_ai.client.operation.duration", "s", SECONDS);
const firstChunks = histogram("gen_ai.client.operation.time_to_first_chunk", "s", SECONDS);
const tokens = histogram("gen_ai.client.token.usage", "{token}", TOKENS);
const logs = new LoggerProvider({
  resource,
  processors: [new SimpleLogRecordProcessor({ exporter: new OTLPLogExporter(at("logs")) })],
});
const logger = logs.getLogger(scope.name, version);

parentPort?.on("message", (batch: Measurement[] | null) => void (batch ? send(batch) : end()));

async function send(batch: readonly Measurement[]): Promise<void> {
  for (const measurement of batch) {
    measure(measurement);
    emitContent(measurement);
  }
  const spans = batch.flatMap((each) => (each.spans ? spansOf(each, each.spans, scope) : []));
  const problem = spans.length === 0 ? null : await exported(spans);
  report({ failed: problem === null ? 0 : spans.length, problem });
}

function exported(spans: ReturnType<typeof spansOf>): Promise<string | null> {
  return new Promise((resolve) => {
    traces.export(spans, ({ code, error }) =>
      resolve(code === 0 ? null : (error?.message ?? "the collector did not take them")),
    );
  });
}

function measure(measured: Measurement): void {
  const { operation, provider, model, upstreamModel, error, durationMs, firstByteMs } = measured;
  const attributes = {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": model,
    ...(upstreamModel !== null && { "gen_ai.response.model": upstreamModel }),
  };
  durations.record(durationMs / 1000, error === null ? attributes : { ...attributes, "error.type": error });
  if (firstByteMs !== null) firstChunks.record(firstByteMs / 1000, attributes);
  for (const [type, count] of [
    ["input", measured.inputTokens],
    ["output", measured.outputTokens],
  ] as const)
    if (count !== null) tokens.record(count, { ...attributes, "gen_ai.token.type": type });
}

function emitContent({ operation, provider, model, spans }: Measurement): void {
  if (!spans?.content) return;
  const context = contextOf(spans.traceId, spans.attempts.at(-1)?.spanId ?? spans.spanId);
  logger.emit({
    eventName: "gen_ai.client.inference.operation.details",
    timestamp: spans.at,
    context: trace.setSpanContext(ROOT_CONTEXT, context),
    attributes: {
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": provider,
      "gen_ai.request.model": model,
      ...contentAttributes(spans),
    },
  });
}

async function end(): Promise<void> {
  await Promise.allSettled([reader.shutdown(), logs.shutdown(), traces.shutdown()]);
  process.exit(0);
}

function report(word: ExportWord): void {
  parentPort?.postMessage(word);
}
