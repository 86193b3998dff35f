import type { RequestRecord } from "../admin/usage/store-port.ts";
import type { Settings } from "../config/index.ts";
import { startOfSpan } from "../domain/calendar.ts";
import { clientProgram } from "../server/http-exchange.ts";
import type { Attempt, LedgerEntry } from "../domain/ledger.ts";
import type { Model } from "../domain/model.ts";
import type { ChargedAmount } from "../domain/price.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import type { RequestEvent } from "../domain/request-event.ts";
import { UpstreamError, type UpstreamErrorKind } from "../domain/upstream-error.ts";
import type { Usage } from "../domain/usage.ts";
import { callerError } from "../gateway/routing/caller-error.ts";
import { createRandom } from "../sandbox/random.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DAYS = 14;
/** Number of requests of all keys together on an average weekday. */
const REQUESTS_A_DAY = 2_000;
const CHANNEL = "sandbox";
/** An outage of the vendor, so that the demo shows failures and retries. */
const OUTAGE = { beforeMidnightMs: 10 * 60 * MINUTE_MS, lastsMs: 50 * MINUTE_MS };

/** Returns all requests, oldest first: fewer at night and on weekends, a few failed requests, and an outage. */
export function trafficOf(
  callers: readonly DemoCaller[],
  { models }: Settings,
  priceOf: PriceOf,
  now: number,
): DemoRequest[] {
  const random = createRandom(20_261_124).next;
  const called = callers.map((caller) => ({
    ...caller,
    models: caller.models.flatMap(([model, weight]) => {
      const type = models.get(model)?.type;
      return type ? [{ model, type, weight }] : [];
    }),
  }));
  const requests: DemoRequest[] = [];
  for (let minute = now - DAYS * DAY_MS; minute < now - MINUTE_MS; minute += MINUTE_MS) {
    const expected = (REQUESTS_A_DAY / (24 * 60)) * activityAt(minute);
    const count = Math.floor(expected + random());
    for (let index = 0; index < count; index += 1) {
      const caller = chosen(called, ({ share }) => share, random);
      const { model, type } = chosen(caller.models, (each) => each.weight, random);
      const at = Math.floor(minute + random() * MINUTE_MS);
      const price = (usage: Usage) => priceOf(caller, model, usage, at);
      requests.push(requestAt({ at, now, model, type, caller, price, random, number: requests.length }));
    }
  }
  return requests.toSorted((one, other) => one.event.at - other.event.at);
}

/** Returns the charge for a caller's usage of a model at a time. */
export type PriceOf = (caller: Caller, model: string, usage: Usage, at: number) => ChargedAmount;

/** A key of the demo. */
export interface DemoCaller {
  organizationId: string;
  keyId: string;
  share: number;
  models: readonly (readonly [model: string, weight: number])[];
  budgets: readonly string[];
}

type Caller = Omit<DemoCaller, "models">;

interface DemoRequest {
  event: RequestEvent;
  charge: LedgerEntry | null;
  record: RequestRecord | null;
}

/** Returns the activity at a time, by hour of the day and day of the week in UTC. The average of a weekday is 1. */
function activityAt(at: number): number {
  const date = new Date(at);
  const isWeekend = date.getUTCDay() % 6 === 0;
  const hour = date.getUTCHours() + date.getUTCMinutes() / 60;
  return (isWeekend ? 0.45 : 1) * (1 - 0.8 * Math.cos(((hour - 2) / 24) * 2 * Math.PI));
}

interface Chance {
  at: number;
  now: number;
  model: string;
  type: Model["type"];
  caller: Caller;
  price: (usage: Usage) => ChargedAmount;
  random: () => number;
  number: number;
}

function requestAt(chance: Chance): DemoRequest {
  const { at, now, model, type, caller, random, number } = chance;
  const sinceOutage = at - (startOfSpan("day", now) - OUTAGE.beforeMidnightMs);
  const isOutage = sinceOutage > 0 && sinceOutage < OUTAGE.lastsMs;
  const failure = failureOf(isOutage, random);
  const usage = usageOf(type, random);
  const isImage = type === "image";
  const isStreamed = type === "chat" || type === "messages";
  const durationMs = Math.round(
    (failure ? failure.usualMs : isImage ? 6_000 : 700) * (0.4 + 2.6 * random() ** 3),
  );
  const isRetried = !failure && random() < 0.012;
  const attempts = attemptsOf({ model, failure, isRetried, durationMs, number });
  const { organizationId, keyId } = caller;
  const id = `req_demo${String(number).padStart(8, "0")}`;
  const price = failure ? null : chance.price(usage);
  const charged = price && chargeOf(chance, { id, usage, attempts, ...price, end: at + durationMs });
  const shared = {
    id,
    requestId: id,
    traceId: null,
    ...ENDPOINTS[type],
    method: "POST",
    address: null,
    status: failure?.error.status ?? 200,
    code: failure?.error.code ?? null,
    message: failure?.error.message ?? null,
    at,
    durationMs,
    firstByteMs: failure || !isStreamed ? null : Math.round(durationMs * 0.3),
    organizationId,
    keyId,
    source: null,
    model,
    askedModel: null,
    client: AGENTS[type],
    channel: failure?.call === null ? null : CHANNEL,
    isStream: isStreamed,
  };
  const event = eventOf(shared, { charged, usage, attempts });
  const isLogged = failure !== null || isRetried;
  const record = isLogged
    ? { ...shared, cause: null, isFailed: failure !== null, isCharged: charged !== null, attempts }
    : null;
  return { event, charge: charged, record };
}

/** The `user-agent` of the programs that call each type of model. */
const AGENTS: Record<Model["type"], string> = {
  chat: "OpenAI/JS 7.55.0",
  messages: "claude-cli/2.1.0",
  embedding: "OpenAI/Python 2.41.0",
  image: "python-requests/2.32.5",
};

/** The endpoint for each type of model, and the name of its route. */
const ENDPOINTS: Record<Model["type"], { route: string; path: string }> = {
  chat: { route: "chat", path: "/v1/chat/completions" },
  messages: { route: "messages", path: "/v1/messages" },
  embedding: { route: "embeddings", path: "/v1/embeddings" },
  image: { route: "images.generations", path: "/v1/images/generations" },
};

/** The fields that an event of a request and its record have in common. */
type Shared = Omit<RequestRecord, "cause" | "isFailed" | "isCharged" | "attempts">;

function eventOf(
  shared: Shared,
  { charged, usage, attempts }: { charged: LedgerEntry | null; usage: Usage; attempts: Attempt[] },
): RequestEvent {
  return {
    ...shared,
    trace: null,
    ledgerId: charged?.id ?? null,
    startedAt: 0,
    modelPattern: null,
    usage: charged ? usage : null,
    surplus: 0,
    amount: charged?.amount ?? 0n,
    currency: charged?.currency ?? null,
    attempts,
    pictures: [],
    content: null,
    cause: null,
  };
}

interface Failure {
  /** The error that the caller received. */
  error: GatewayError;
  /** The outcome and the HTTP status of the call to the vendor; null when no vendor was called. */
  call: Pick<Attempt, "outcome" | "status"> | null;
  /** Usual duration in milliseconds. */
  usualMs: number;
}

const OVERLOADED = failedCall("overloaded", 503);
const FAILURES: readonly (Failure & { weight: number })[] = [
  {
    weight: 5,
    error: new GatewayError(
      "rate_limit_exceeded",
      "This key's limit of 60 requests a minute is reached. Retry in 8 seconds.",
    ),
    call: null,
    usualMs: 3,
  },
  { weight: 3, ...failedCall("rejected", 400) },
  { weight: 2, ...failedCall("timeout"), usualMs: 60_000 },
  { weight: 1, ...failedCall("refused", 400) },
];

function failedCall(kind: UpstreamErrorKind, status?: number): Failure {
  const call = { outcome: kind, ...(status !== undefined && { status }) };
  return { error: callerError(new UpstreamError(kind, kind)), call, usualMs: 80 };
}

function failureOf(isOutage: boolean, random: () => number): Failure | null {
  if (isOutage && random() < 0.7) return OVERLOADED;
  return random() < 0.013 ? chosen(FAILURES, ({ weight }) => weight, random) : null;
}

function usageOf(type: Model["type"], random: () => number): Usage {
  if (type === "image")
    return { unit: "image", count: random() < 0.2 ? 2 : 1, tier: "1K", quality: "medium" };
  const input = Math.round(300 + 6_000 * random() ** 3);
  if (type === "embedding") return { unit: "token", tokens: { input }, source: "upstream" };
  const cacheRead = random() < 0.4 ? Math.round(input * 0.8) : 0;
  const output = Math.round(60 + 1_500 * random() ** 2);
  return { unit: "token", tokens: { input: input - cacheRead, cacheRead, output }, source: "upstream" };
}

function attemptsOf({
  model,
  failure,
  isRetried,
  durationMs,
  number,
}: {
  model: string;
  failure: Failure | null;
  isRetried: boolean;
  durationMs: number;
  number: number;
}): Attempt[] {
  const call = { channel: CHANNEL, upstreamModel: model, vendorRequestId: `sandbox-${number}` };
  if (failure) return failure.call ? [{ ...call, durationMs, ...failure.call }] : [];
  const answered = { ...call, durationMs, outcome: "answered" as const, status: 200 };
  return isRetried ? [{ ...call, durationMs: 120, outcome: "limited", status: 429 }, answered] : [answered];
}

function chargeOf(
  { at, model, type, caller: { organizationId, keyId, budgets } }: Chance,
  {
    id,
    usage,
    attempts,
    amount,
    source,
    end,
  }: {
    id: string;
    usage: Usage;
    attempts: readonly Attempt[];
    amount: bigint;
    source: "default" | "organization";
    end: number;
  },
): LedgerEntry {
  return {
    id,
    kind: "charge",
    requestId: id,
    organizationId,
    keyId,
    client: clientProgram(AGENTS[type]) ?? "other",
    model,
    channel: CHANNEL,
    upstreamModel: model,
    at: end,
    admittedAt: at,
    usage,
    amount,
    currency: "USD",
    priceSource: source,
    orphanCost: 0n,
    budgets,
    attempts,
    flags: [],
  };
}

/** Returns an item chosen at random by weight. Throws when there are no items. */
function chosen<Item>(items: readonly Item[], weightOf: (item: Item) => number, random: () => number): Item {
  let left = random() * items.reduce((sum, item) => sum + weightOf(item), 0);
  for (const item of items) {
    left -= weightOf(item);
    if (left < 0) return item;
  }
  const last = items.at(-1);
  if (last === undefined) throw new Error("there is nothing to choose from");
  return last;
}
