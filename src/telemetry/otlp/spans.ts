import { type Attributes, type HrTime, type SpanContext, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { z } from "zod";
import { redactPersonal } from "../redaction.ts";
import type { Measurement, SpanRecord } from "./record.ts";

const SAMPLED = 1;
const MS = 1_000;
const NANOS_PER_MS = 1e6;

export interface SpanScope {
  resource: Resource;
  name: string;
  version: string;
}

/**
 * Returns the spans of a request: one span of the request, with a child span for each call to a vendor. Attributes
 * follow OpenTelemetry's conventions for generative AI. Only the answered call has usage and price.
 */
export function spansOf(record: SpanRecord, scope: SpanScope): ReadableSpan[] {
  const { measured } = record;
  const endsAt = record.at + measured.durationMs;
  const isJob = record.route === "jobs.run";
  const isFault = record.status >= 500;
  const root = span(scope, {
    name: record.route,
    kind: isJob ? SpanKind.CONSUMER : SpanKind.SERVER,
    context: contextOf(record.traceId, record.spanId),
    parent: record.parentId === null ? null : contextOf(record.traceId, record.parentId),
    at: record.at,
    endsAt,
    error: isFault ? (measured.error ?? String(record.status)) : null,
    attributes: requestAttributes(measured, record, isJob),
  });
  const calls = record.attempts.map((attempt) => {
    const isAnswered = attempt.outcome === "answered";
    return span(scope, {
      name: `${measured.operation} ${attempt.upstreamModel}`,
      kind: SpanKind.CLIENT,
      context: contextOf(record.traceId, attempt.spanId),
      parent: contextOf(record.traceId, record.spanId),
      at: attempt.at,
      // An answered attempt's span ends with the request, although its recorded duration may end at the first content.
      endsAt: isAnswered ? endsAt : attempt.at + attempt.durationMs,
      error: isAnswered ? null : attempt.outcome,
      attributes: {
        "gen_ai.operation.name": measured.operation,
        "gen_ai.provider.name": attempt.provider,
        "gen_ai.request.model": attempt.upstreamModel,
        "gateway.channel": attempt.channel,
        ...(attempt.status !== undefined && { "http.response.status_code": attempt.status }),
        ...(attempt.vendorRequestId !== undefined && {
          "gateway.vendor.request_id": attempt.vendorRequestId,
        }),
        ...(isAnswered && replyAttributes(measured, record)),
      },
    });
  });
  return [root, ...calls];
}

/** Returns the redacted content of a request as attributes; no attributes when content is not exported. */
export function contentAttributes({ content }: SpanRecord): Attributes {
  if (!content) return {};
  return {
    "gen_ai.input.messages": JSON.stringify(messagesOf(content.prompt)),
    "gen_ai.output.messages": JSON.stringify([message("assistant", content.reply)]),
  };
}

interface Message {
  role: string;
  parts: { type: "text"; content: string }[];
}

/** Reads the messages of a request's body. A truncated body, or a body without messages, becomes one message. */
function messagesOf(body: string): Message[] {
  const messages = bodyMessages(body);
  return messages ? messages.map(({ role, content }) => message(role, content)) : [message("user", body)];
}

function bodyMessages(body: string): { role: string; content: unknown }[] | null {
  try {
    const { success, data } = bodySchema.safeParse(JSON.parse(body));
    return success ? data.messages : null;
  } catch {
    return null;
  }
}

const bodySchema = z.object({ messages: z.array(z.object({ role: z.string(), content: z.unknown() })) });

function message(role: string, content: unknown): Message {
  const text = typeof content === "string" ? content : JSON.stringify(content ?? null);
  return { role, parts: [{ type: "text", content: redactPersonal(text) }] };
}

export function contextOf(traceId: string, spanId: string): SpanContext {
  return { traceId, spanId, traceFlags: SAMPLED };
}

function requestAttributes({ model, error }: Measurement, record: SpanRecord, isJob: boolean): Attributes {
  const { organizationId, keyId, ledgerId, currency, images } = record;
  return {
    "gateway.request.id": record.requestId,
    "gateway.model": model,
    ...(isJob
      ? { "gateway.job.id": record.id }
      : {
          "http.request.method": record.method,
          "url.path": record.path,
          "http.response.status_code": record.status,
        }),
    ...(error !== null && { "error.type": error }),
    ...(organizationId !== null && { "gateway.organization.id": organizationId }),
    ...(keyId !== null && { "gateway.key.id": keyId }),
    ...(ledgerId !== null && { "gateway.ledger.id": ledgerId }),
    ...(currency !== null && { "gateway.charge.amount": record.amount, "gateway.charge.currency": currency }),
    ...(images !== null && { "gateway.images": images }),
  };
}

function replyAttributes(measured: Measurement, record: SpanRecord): Attributes {
  const { inputTokens, outputTokens, firstByteMs, upstreamModel } = measured;
  return {
    ...(upstreamModel !== null && { "gen_ai.response.model": upstreamModel }),
    ...(inputTokens !== null && {
      "gen_ai.usage.input_tokens": inputTokens,
      "gen_ai.usage.cache_read.input_tokens": record.cacheReadTokens,
      "gen_ai.usage.cache_creation.input_tokens": record.cacheWriteTokens,
    }),
    ...(outputTokens !== null && { "gen_ai.usage.output_tokens": outputTokens }),
    ...(firstByteMs !== null && { "gen_ai.response.time_to_first_chunk": firstByteMs / MS }),
    // Langfuse reads this attribute as US dollars.
    ...(record.currency === "USD" && { "gen_ai.usage.cost": record.amount }),
    ...contentAttributes(record),
  };
}

interface SpanFacts {
  name: string;
  kind: SpanKind;
  context: SpanContext;
  parent: SpanContext | null;
  /** Time in Unix milliseconds. */
  at: number;
  endsAt: number;
  error: string | null;
  attributes: Attributes;
}

function span({ resource, name, version }: SpanScope, facts: SpanFacts): ReadableSpan {
  const { context, parent, at, endsAt, error, attributes } = facts;
  return {
    name: facts.name,
    kind: facts.kind,
    spanContext: () => context,
    ...(parent && { parentSpanContext: parent }),
    startTime: timeOf(at),
    endTime: timeOf(endsAt),
    duration: timeOf(endsAt - at),
    status: { code: error === null ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
    attributes: error === null ? attributes : { "error.type": error, ...attributes },
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name, version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Converts Unix milliseconds to seconds and nanoseconds. */
export function timeOf(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / MS);
  return [seconds, Math.round((milliseconds - seconds * MS) * NANOS_PER_MS)];
}
