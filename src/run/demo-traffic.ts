import type { RequestRecord } from "../admin/usage/store-port.ts";
import type { Settings } from "../config/index.ts";
import { startOfSpan } from "../domain/calendar.ts";
import type { Attempt, LedgerEntry } from "../domain/ledger.ts";
import type { ChargedAmount } from "../domain/price.ts";
import type { RequestEvent } from "../domain/request-event.ts";
import type { Usage } from "../domain/usage.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DAYS = 14;
/** Requests of an ordinary weekday, of all keys together. */
const REQUESTS_A_DAY = 2_000;
const CHANNEL = "sandbox";
/** When the vendor is down in the demo, so that failures, retries and their pages are there to be seen. */
const OUTAGE = { beforeMidnightMs: 10 * 60 * MINUTE_MS, lastsMs: 50 * MINUTE_MS };

/** All requests, oldest first: fewer at night and at weekends, a few that fail, and an outage. */
export function trafficOf(
  callers: readonly DemoCaller[],
  { models }: Settings,
  priceOf: PriceOf,
  now: number,
): DemoRequest[] {
  const random = seeded(20_261_124);
  const called = callers.map((caller) => ({
    ...caller,
    models: caller.models.filter(([model]) => models.get(model) !== undefined),
  }));
  const requests: DemoRequest[] = [];
  for (let minute = now - DAYS * DAY_MS; minute < now - MINUTE_MS; minute += MINUTE_MS) {
    const expected = (REQUESTS_A_DAY / (24 * 60)) * activityAt(minute);
    const count = Math.floor(expected + random());
    for (let index = 0; index < count; index += 1) {
      const caller = chosen(called, ({ share }) => share, random);
      const [model] = chosen(caller.models, ([, weight]) => weight, random);
      const at = Math.floor(minute + random() * MINUTE_MS);
      const price = (usage: Usage) => priceOf(caller, model, usage, at);
      requests.push(requestAt({ at, now, model, caller, price, random, number: requests.length }));
    }
  }
  return requests.toSorted((one, other) => one.event.at - other.event.at);
}

/** Prices what a caller used of a model at a time. */
export type PriceOf = (caller: DemoCaller, model: string, usage: Usage, at: number) => ChargedAmount;

/** A key of the demo. */
export interface DemoCaller {
  organizationId: string;
  keyId: string;
  share: number;
  models: readonly (readonly [model: string, weight: number])[];
  budgets: readonly string[];
}

interface DemoRequest {
  event: RequestEvent;
  charge: LedgerEntry | null;
  record: RequestRecord | null;
}

/** A day's and a week's rhythm around 1, by UTC. */
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
  caller: DemoCaller;
  price: (usage: Usage) => ChargedAmount;
  random: () => number;
  number: number;
}

function requestAt(chance: Chance): DemoRequest {
  const { at, now, model, caller, random, number } = chance;
  const sinceOutage = at - (startOfSpan("day", now) - OUTAGE.beforeMidnightMs);
  const isOutage = sinceOutage > 0 && sinceOutage < OUTAGE.lastsMs;
  const failure = failureOf(isOutage, random);
  const usage = usageOf(model, random);
  const isImage = usage.unit === "image";
  const durationMs = Math.round((failure ? 80 : isImage ? 6_000 : 700) * (0.4 + 2.6 * random() ** 3));
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
    route: isImage
      ? "images.generations"
      : usage.unit === "token" && model.includes("messages")
        ? "messages"
        : "chat",
    method: "POST",
    path: isImage ? "/v1/images/generations" : "/v1/chat/completions",
    address: null,
    status: failure?.status ?? 200,
    code: failure?.code ?? null,
    message: failure?.message ?? null,
    at,
    durationMs,
    firstByteMs: failure || isImage ? null : Math.round(durationMs * 0.3),
    organizationId,
    keyId,
    source: null,
    model,
    askedModel: null,
    client: isImage ? "Studio/2.1" : "OpenAI/Python",
    channel: failure && failure.outcome === null ? null : CHANNEL,
    isStream: !isImage,
  };
  const event = eventOf(shared, { charged, usage, attempts });
  const isLogged = failure !== null || isRetried;
  const record = isLogged
    ? { ...shared, cause: null, isFailed: failure !== null, isCharged: charged !== null, attempts }
    : null;
  return { event, charge: charged, record };
}

/** What a request and its record have in common. */
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
  status: number;
  code: string;
  message: string;
  /** Of the call to the vendor; null where none was made. */
  outcome: Attempt["outcome"] | null;
}

const FAILURES: readonly (Failure & { weight: number })[] = [
  {
    weight: 5,
    status: 429,
    code: "rate_limit_exceeded",
    message: "too many requests in a minute",
    outcome: null,
  },
  {
    weight: 3,
    status: 400,
    code: "invalid_request_error",
    message: "max_tokens is too large",
    outcome: "rejected",
  },
  {
    weight: 2,
    status: 504,
    code: "upstream_timeout",
    message: "the model took too long",
    outcome: "timeout",
  },
  {
    weight: 1,
    status: 400,
    code: "content_policy_violation",
    message: "the prompt was refused",
    outcome: "refused",
  },
];
const OVERLOADED: Failure = {
  status: 503,
  code: "overloaded",
  message: "every target of this model is out of service",
  outcome: "overloaded",
};

function failureOf(isOutage: boolean, random: () => number): Failure | null {
  if (isOutage && random() < 0.7) return OVERLOADED;
  return random() < 0.013 ? chosen(FAILURES, ({ weight }) => weight, random) : null;
}

function usageOf(model: string, random: () => number): Usage {
  if (/^sandbox-[abcd](-|$)/.test(model))
    return { unit: "image", count: random() < 0.2 ? 2 : 1, tier: "1K", quality: "medium" };
  const input = Math.round(300 + 6_000 * random() ** 3);
  if (model.endsWith("embedding")) return { unit: "token", tokens: { input }, source: "upstream" };
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
  if (failure)
    return failure.outcome === null
      ? []
      : [{ ...call, durationMs, outcome: failure.outcome, status: failure.status }];
  const answered = { ...call, durationMs, outcome: "answered" as const, status: 200 };
  return isRetried ? [{ ...call, durationMs: 120, outcome: "limited", status: 429 }, answered] : [answered];
}

function chargeOf(
  { at, model, caller: { organizationId, keyId, budgets } }: Chance,
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

/** Numbers from 0 to 1 that only depend on the seed (Mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Chooses one of the items by their weights. Throws where there are none. */
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
