import { type Attributes, type HrTime, type SpanContext, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { isObject } from "../../lib/json.ts";
import { redactPersonal } from "../redaction.ts";
import type { SpanRecord } from "./record.ts";

const SAMPLED = 1;
const MS = 1_000;
const NANOS_PER_MS = 1e6;

/** The parts that all spans share. */
export type SpanScope = Pick<ReadableSpan, "resource" | "instrumentationScope">;

/** Spans without links and events share one empty list. */
const NONE: never[] = [];

/**
 * Returns the spans of a request: one span of the request, with a child span for each call to a vendor. Attributes
 * follow OpenTelemetry's conventions for generative AI. Only the answered call has usage and price.
 */
export function spansOf(record: SpanRecord, scope: SpanScope): ReadableSpan[] {
  const { measured, traceId, parentId, at } = record;
  const endsAt = at + measured.durationMs;
  const isJob = record.route === "jobs.run";
  const context = contextOf(traceId, record.spanId);
  const root = span(scope, {
    name: record.route,
    kind: isJob ? SpanKind.CONSUMER : SpanKind.SERVER,
    context,
    parent: parentId === null ? undefined : contextOf(traceId, parentId),
    at,
    endsAt,
    error: record.status >= 500 ? (measured.error ?? String(record.status)) : null,
    attributes: requestAttributes(record, isJob),
  });
  const calls = record.attempts.map((attempt) => {
    const isAnswered = attempt.outcome === "answered";
    return span(scope, {
      name: `${measured.operation} ${attempt.upstreamModel}`,
      kind: SpanKind.CLIENT,
      context: contextOf(traceId, attempt.spanId),
      parent: context,
      at: attempt.at,
      // An answered attempt's span ends with the request, although its recorded duration may end at the first content.
      endsAt: isAnswered ? endsAt : attempt.at + attempt.durationMs,
      error: isAnswered ? null : attempt.outcome,
      attributes: callAttributes(record, attempt, isAnswered),
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

function bodyMessages(text: string): BodyMessage[] | null {
  try {
    const body: unknown = JSON.parse(text);
    const messages: unknown = isObject(body) && body["messages"];
    return Array.isArray(messages) && messages.every(isMessage) ? messages : null;
  } catch {
    return null;
  }
}

interface BodyMessage {
  role: string;
  content: unknown;
}

function isMessage(value: unknown): value is BodyMessage {
  return isObject(value) && typeof value["role"] === "string" && "content" in value;
}

function message(role: string, content: unknown): Message {
  const text = typeof content === "string" ? content : JSON.stringify(content ?? null);
  return { role, parts: [{ type: "text", content: redactPersonal(text) }] };
}

export function contextOf(traceId: string, spanId: string): SpanContext {
  return { traceId, spanId, traceFlags: SAMPLED };
}

function requestAttributes(record: SpanRecord, isJob: boolean): Attributes {
  const { measured, organizationId, keyId, ledgerId, currency, images } = record;
  const attributes: Attributes = {
    "gateway.request.id": record.requestId,
    "gateway.model": measured.model,
  };
  if (isJob) attributes["gateway.job.id"] = record.id;
  else {
    attributes["http.request.method"] = record.method;
    attributes["url.path"] = record.path;
    attributes["http.response.status_code"] = record.status;
  }
  if (measured.error !== null) attributes["error.type"] = measured.error;
  if (organizationId !== null) attributes["gateway.organization.id"] = organizationId;
  if (keyId !== null) attributes["gateway.key.id"] = keyId;
  if (ledgerId !== null) attributes["gateway.ledger.id"] = ledgerId;
  if (currency !== null) {
    attributes["gateway.charge.amount"] = record.amount;
    attributes["gateway.charge.currency"] = currency;
  }
  if (images !== null) attributes["gateway.images"] = images;
  return attributes;
}

function callAttributes(
  record: SpanRecord,
  { provider, upstreamModel, channel, status, vendorRequestId }: SpanRecord["attempts"][number],
  isAnswered: boolean,
): Attributes {
  const { measured, cacheReadTokens, cacheWriteTokens } = record;
  const { inputTokens, outputTokens, firstByteMs } = measured;
  const attributes: Attributes = {
    "gen_ai.operation.name": measured.operation,
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": upstreamModel,
    "gateway.channel": channel,
  };
  if (status !== undefined) attributes["http.response.status_code"] = status;
  if (vendorRequestId !== undefined) attributes["gateway.vendor.request_id"] = vendorRequestId;
  if (!isAnswered) return attributes;
  if (measured.upstreamModel !== null) attributes["gen_ai.response.model"] = measured.upstreamModel;
  if (inputTokens !== null) {
    attributes["gen_ai.usage.input_tokens"] = inputTokens;
    attributes["gen_ai.usage.cache_read.input_tokens"] = cacheReadTokens;
    attributes["gen_ai.usage.cache_creation.input_tokens"] = cacheWriteTokens;
  }
  if (outputTokens !== null) attributes["gen_ai.usage.output_tokens"] = outputTokens;
  if (firstByteMs !== null) attributes["gen_ai.response.time_to_first_chunk"] = firstByteMs / MS;
  // Langfuse reads this attribute as US dollars.
  if (record.currency === "USD") attributes["gen_ai.usage.cost"] = record.amount;
  return Object.assign(attributes, contentAttributes(record));
}

interface SpanFacts {
  name: string;
  kind: SpanKind;
  context: SpanContext;
  parent: SpanContext | undefined;
  /** Time in Unix milliseconds. */
  at: number;
  endsAt: number;
  error: string | null;
  attributes: Attributes;
}

function span({ resource, instrumentationScope }: SpanScope, facts: SpanFacts): ReadableSpan {
  const { context, at, endsAt, error, attributes } = facts;
  if (error !== null) attributes["error.type"] ??= error;
  return {
    name: facts.name,
    kind: facts.kind,
    spanContext: () => context,
    parentSpanContext: facts.parent,
    startTime: timeOf(at),
    endTime: timeOf(endsAt),
    duration: timeOf(endsAt - at),
    status: { code: error === null ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
    attributes,
    links: NONE,
    events: NONE,
    ended: true,
    resource,
    instrumentationScope,
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
