import { parentPort, workerData } from "node:worker_threads";
import { type HrTime, ROOT_CONTEXT, trace, ValueType } from "@opentelemetry/api";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { AggregationTemporality, DataPointType, type MetricData } from "@opentelemetry/sdk-metrics";
import { systemClock } from "../../lib/clock.ts";
import { lowerThisThread } from "../../lib/thread-priority.ts";
import type { ExportOrder, ExportSetup, ExportWord } from "./exporter.ts";
import type { ExportedMetric } from "./gen-ai-metrics.ts";
import type { SpanRecord } from "./record.ts";
import { contentAttributes, contextOf, spansOf, timeOf } from "./spans.ts";

/*
 * This thread makes spans, metrics and events from records and sends them to the collector with the official libraries.
 * It reports each batch of requests after sending it. Until the process stops, the thread gets a batch only after it
 * has reported the previous batch.
 */
const TIMEOUT_MS = 5_000;

lowerThisThread();
const { endpoint, headers, serviceName, instance, version } = workerData as ExportSetup;
const resource = resourceFromAttributes({
  "service.name": serviceName,
  "service.version": version,
  "service.instance.id": instance,
});
const at = (signal: string) => ({ url: `${endpoint}/v1/${signal}`, headers, timeoutMillis: TIMEOUT_MS });
const instrumentationScope = { name: "model-inference-gateway", version };
const traces = new OTLPTraceExporter(at("traces"));
const metrics = new OTLPMetricExporter(at("metrics"));
// Records are exported in batches. An exporter of single records drops new records while it sends thirty.
const logs = new LoggerProvider({
  resource,
  processors: [
    new BatchLogRecordProcessor({
      exporter: new OTLPLogExporter(at("logs")),
      exportTimeoutMillis: TIMEOUT_MS,
    }),
  ],
});
const logger = logs.getLogger(instrumentationScope.name, version);
const startTime = timeOf(systemClock.now());

/** Resolves when all batches are sent. The last batches arrive together with the order to end. */
let sent: Promise<unknown> = Promise.resolve();

parentPort?.on("message", (order: ExportOrder) => {
  if (order.kind === "requests") sent = Promise.all([sent, send(JSON.parse(order.requests))]);
  else if (order.kind === "metrics") sendMetrics(order.metrics);
  else void end();
});

async function send(requests: readonly SpanRecord[]): Promise<void> {
  for (const request of requests) emitContent(request);
  const spans = requests.flatMap((request) => spansOf(request, { resource, instrumentationScope }));
  const [problem] = await Promise.all([
    spans.length === 0 ? null : exported(spans),
    // The logs are sent now, so that the logs of this batch are sent before the next batch arrives.
    logs.forceFlush().catch(() => {}),
  ]);
  report({ failed: problem === null ? 0 : spans.length, problem });
}

function exported(spans: ReturnType<typeof spansOf>): Promise<string | null> {
  return new Promise((resolve) => {
    traces.export(spans, ({ code, error }) =>
      resolve(code === 0 ? null : (error?.message ?? "the collector did not take them")),
    );
  });
}

/** Sends metrics. A lost message does not matter, because values count from the start of the process. */
function sendMetrics(exportedMetrics: readonly ExportedMetric[]): void {
  const endTime = timeOf(systemClock.now());
  const data = exportedMetrics
    .filter(({ series }) => series.length > 0)
    .map((metric) => metricData(metric, endTime));
  if (data.length === 0) return;
  metrics.export({ resource, scopeMetrics: [{ scope: instrumentationScope, metrics: data }] }, () => {});
}

function metricData({ name, unit, series }: ExportedMetric, endTime: HrTime): MetricData {
  return {
    descriptor: { name, unit, description: "", valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: series.map(({ attributes, histogram: { bounds, buckets, sum, count } }) => ({
      startTime,
      endTime,
      attributes,
      value: { buckets: { boundaries: [...bounds], counts: [...buckets] }, sum, count },
    })),
  };
}

function emitContent(request: SpanRecord): void {
  if (!request.content) return;
  const { operation, provider, model } = request.measured;
  const context = contextOf(request.traceId, request.attempts.at(-1)?.spanId ?? request.spanId);
  logger.emit({
    eventName: "gen_ai.client.inference.operation.details",
    timestamp: request.at,
    context: trace.setSpanContext(ROOT_CONTEXT, context),
    attributes: {
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": provider,
      "gen_ai.request.model": model,
      ...contentAttributes(request),
    },
  });
}

async function end(): Promise<void> {
  await sent;
  await Promise.allSettled([metrics.shutdown(), logs.shutdown(), traces.shutdown()]);
  process.exit(0);
}

function report(word: ExportWord): void {
  parentPort?.postMessage(word);
}
