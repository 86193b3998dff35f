import type { Attempt } from "../../domain/ledger.ts";
import type { RequestEvent } from "../../domain/request-event.ts";
import { INPUT_CATEGORIES, OUTPUT_CATEGORIES, type TokenCategory, type Usage } from "../../domain/usage.ts";

/** The facts about a request that its metrics need. */
export interface Measurement {
  /** Value of `gen_ai.operation.name`. */
  operation: string;
  /** Value of `gen_ai.provider.name`; `gateway` when no vendor was called. */
  provider: string;
  model: string;
  upstreamModel: string | null;
  /** The request's error code; null without an error. */
  error: string | null;
  durationMs: number;
  firstByteMs: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
}

/** The facts about a request that its spans and events need, as JSON values. Times are in Unix milliseconds. */
export interface SpanRecord {
  measured: Measurement;
  traceId: string;
  spanId: string;
  parentId: string | null;
  id: string;
  requestId: string;
  ledgerId: string | null;
  route: string;
  method: string;
  path: string;
  status: number;
  at: number;
  organizationId: string | null;
  keyId: string | null;
  amount: number;
  currency: string | null;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  images: number | null;
  attempts: (Attempt & { spanId: string; at: number; provider: string })[];
  /** Prompt and reply, before redaction. */
  content: { prompt: string; reply: string } | null;
}

interface RecordOptions {
  /** Returns the name of the provider (the vendor's adapter) of a channel. */
  providerOf(channel: string): string | undefined;
  isContentExported: boolean;
}

const NANOS = 1e9;

/** The vendors' names in OpenTelemetry's conventions, by provider. Other providers keep their own names. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  xai: "x_ai",
};

/** Values of `gen_ai.operation.name` by route; `generate_content` for all other routes. */
const OPERATIONS: Readonly<Record<string, string>> = {
  chat: "chat",
  messages: "chat",
  responses: "chat",
  embeddings: "embeddings",
};

/** Returns the measurement of a request to a model, even if no vendor was called. */
export function measurementOf(event: RequestEvent, options: RecordOptions): Measurement {
  const { attempts, usage } = event;
  const last = attempts.at(-1);
  return {
    operation: OPERATIONS[event.route] ?? "generate_content",
    provider: last ? providerName(last.channel, options) : "gateway",
    model: event.modelPattern ?? event.model ?? "unknown",
    upstreamModel: last?.outcome === "answered" ? last.upstreamModel : null,
    error: event.code,
    durationMs: event.durationMs,
    firstByteMs: event.firstByteMs,
    inputTokens: tokensOf(usage, INPUT_CATEGORIES),
    outputTokens: tokensOf(usage, OUTPUT_CATEGORIES),
  };
}

/** Returns the record for the spans of a request; null when the trace of the request is not sampled. */
export function spanRecordOf(
  event: RequestEvent,
  measured: Measurement,
  options: RecordOptions,
): SpanRecord | null {
  if (!event.trace?.isSampled) return null;
  const { traceId, spanId, parentId, attempts: spans } = event.trace;
  const { id, requestId, ledgerId, route, method, path, status, at, startedAt, usage, content } = event;
  return {
    measured,
    traceId,
    spanId,
    parentId,
    id,
    requestId,
    ledgerId,
    route,
    method,
    path,
    status,
    at,
    organizationId: event.organizationId,
    keyId: event.keyId,
    amount: Number(event.amount) / NANOS,
    currency: event.currency,
    cacheReadTokens: tokensOf(usage, ["cacheRead"]) ?? 0,
    cacheWriteTokens: tokensOf(usage, ["cacheWrite", "cacheWrite1h"]) ?? 0,
    images: usage?.unit === "image" ? usage.count : null,
    attempts: event.attempts.flatMap((attempt, index) => {
      const span = spans[index];
      if (!span) return [];
      const began = at + (span.startedAt - startedAt);
      return [
        { ...attempt, spanId: span.spanId, at: began, provider: providerName(attempt.channel, options) },
      ];
    }),
    content: options.isContentExported && content ? { prompt: content.prompt, reply: content.reply } : null,
  };
}

function providerName(channel: string, { providerOf }: RecordOptions): string {
  const provider = providerOf(channel) ?? channel;
  return PROVIDER_NAMES[provider] ?? provider;
}

function tokensOf(usage: Usage | null, categories: readonly TokenCategory[]): number | null {
  if (usage?.unit !== "token") return null;
  let sum = 0;
  for (const category of categories) sum += usage.tokens[category] ?? 0;
  return sum;
}
