import { z } from "zod";

/** A receiver of OTLP over HTTP with JSON. It requires ids in hexadecimal and times as text, as the protocol does. */
export interface Collector {
  url: string;
  /** Spans in order of arrival, with plain attributes. */
  spans: readonly Span[];
  /** Names of events, which arrive as logs. */
  events: readonly string[];
  /** The last received histograms, by name. */
  metrics: ReadonlyMap<string, readonly Histogram[]>;
  /** Headers of every request. */
  headers: readonly Headers[];
  stop(): Promise<void>;
}

const valueSchema = z.union([
  z.strictObject({ stringValue: z.string() }).transform(({ stringValue }) => stringValue),
  z.strictObject({ intValue: z.union([z.int(), z.string()]) }).transform(({ intValue }) => Number(intValue)),
  z.strictObject({ doubleValue: z.number() }).transform(({ doubleValue }) => doubleValue),
  z.strictObject({ boolValue: z.boolean() }).transform(({ boolValue }) => boolValue),
]);

const attributesSchema = z
  .array(z.strictObject({ key: z.string().min(1), value: valueSchema }))
  .transform((pairs) => Object.fromEntries(pairs.map(({ key, value }) => [key, value])));

const timeSchema = z.string().regex(/^\d{19}$/);
const traceIdSchema = z.string().regex(/^(?!0+$)[\da-f]{32}$/);
const spanIdSchema = z.string().regex(/^(?!0+$)[\da-f]{16}$/);

const spanSchema = z
  .looseObject({
    traceId: traceIdSchema,
    spanId: spanIdSchema,
    parentSpanId: spanIdSchema.optional(),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: timeSchema,
    endTimeUnixNano: timeSchema,
    attributes: attributesSchema,
    status: z.looseObject({ code: z.int().min(0).max(2) }),
  })
  .refine(({ startTimeUnixNano, endTimeUnixNano }) => startTimeUnixNano <= endTimeUnixNano);

type Span = z.output<typeof spanSchema>;

const resourceSchema = z.looseObject({
  attributes: attributesSchema.refine((attributes) => "service.name" in attributes),
});

const tracesSchema = z.strictObject({
  resourceSpans: z.array(
    z.looseObject({
      resource: resourceSchema,
      scopeSpans: z.array(z.looseObject({ spans: z.array(spanSchema) })),
    }),
  ),
});

const logsSchema = z.strictObject({
  resourceLogs: z.array(
    z.looseObject({
      resource: resourceSchema,
      scopeLogs: z.array(
        z.looseObject({
          logRecords: z.array(
            z.looseObject({
              timeUnixNano: timeSchema,
              traceId: traceIdSchema,
              spanId: spanIdSchema,
              eventName: z.string(),
            }),
          ),
        }),
      ),
    }),
  ),
});

const histogramSchema = z
  .strictObject({
    attributes: attributesSchema,
    startTimeUnixNano: timeSchema,
    timeUnixNano: timeSchema,
    count: z.coerce.number().int(),
    sum: z.number(),
    bucketCounts: z.array(z.coerce.number().int().min(0)),
    explicitBounds: z.array(z.number()),
  })
  .refine(({ bucketCounts, explicitBounds }) => bucketCounts.length === explicitBounds.length + 1)
  .refine(({ count, bucketCounts }) => bucketCounts.reduce((sum, each) => sum + each, 0) === count);

type Histogram = z.output<typeof histogramSchema>;

const metricsSchema = z.strictObject({
  resourceMetrics: z.array(
    z.looseObject({
      resource: resourceSchema,
      scopeMetrics: z.array(
        z.looseObject({
          metrics: z.array(
            z.looseObject({
              name: z.string().min(1),
              unit: z.string(),
              histogram: z.strictObject({
                aggregationTemporality: z.literal(2),
                dataPoints: z.array(histogramSchema),
              }),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** Starts a collector on a free port. A request that violates the protocol gets 400. */
export function startCollector(): Collector {
  const spans: Span[] = [];
  const events: string[] = [];
  const metrics = new Map<string, readonly Histogram[]>();
  const headers: Headers[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      headers.push(request.headers);
      const body: unknown = await request.json();
      const { pathname } = new URL(request.url);
      if (pathname === "/v1/traces") {
        const { success, data } = tracesSchema.safeParse(body);
        if (!success) return new Response(null, { status: 400 });
        for (const { scopeSpans } of data.resourceSpans)
          spans.push(...scopeSpans.flatMap((scope) => scope.spans));
      } else if (pathname === "/v1/logs") {
        const { success, data } = logsSchema.safeParse(body);
        if (!success) return new Response(null, { status: 400 });
        for (const { scopeLogs } of data.resourceLogs)
          for (const { logRecords } of scopeLogs)
            events.push(...logRecords.map(({ eventName }) => eventName));
      } else if (pathname === "/v1/metrics") {
        const { success, data } = metricsSchema.safeParse(body);
        if (!success) return new Response(null, { status: 400 });
        for (const { scopeMetrics } of data.resourceMetrics)
          for (const scope of scopeMetrics)
            for (const { name, histogram } of scope.metrics) metrics.set(name, histogram.dataPoints);
      } else return new Response(null, { status: 404 });
      return Response.json({});
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    events,
    metrics,
    headers,
    stop: async () => void (await server.stop(true)),
  };
}
