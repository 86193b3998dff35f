import type { PictureRecord, RequestRecord } from "../admin/usage/store-port.ts";
import type { RequestEvent } from "../domain/request-event.ts";
import { isFailed } from "../domain/traffic.ts";
import { causeText } from "./log.ts";
import { counter, type MetricFamily } from "./metrics.ts";
import { redact, redactPersonal } from "./redaction.ts";
import type { PromptRecord } from "../admin/prompts/schema.ts";

export interface RecorderSettings {
  /** `failed` records failed, slow and retried requests. `all` also records every other request with a key. */
  log: "failed" | "all";
  /** Duration in milliseconds at which a request counts as slow. */
  slowMs: number;
}

/** Maximum number of requests that a process records at once, and then per second. */
const PER_PROCESS = { atOnce: 1_000, perSecond: 50 };
/** The limits of one key, per process. All requests without a key count as one key. */
const PER_KEY = { atOnce: 500, perSecond: 0.5 };
/** Maximum number of records that wait for the database. */
const MAX_WAITING = 5_000;
const MAX_TEXT = 500;
/** Maximum length of names that callers choose, in characters. */
const MAX_NAME = 128;

/** Routes that are not recorded, because they call no model: probes, files, the console and administration. */
const UNRECORDED = /^(?:health|readiness|metrics|files|console.*|admin\..*)$/;

/**
 * Collects requests and delivered pictures until the database writer takes them. Requests above the limits per process
 * and per key are only counted, so that refused requests cannot fill the disk. With `all`, these limits do not apply to
 * requests with a key.
 */
export class RequestRecorder {
  readonly #settings: () => RecorderSettings;
  readonly #inProcess: Allowance;
  readonly #byKey: Allowance;
  #events: RequestEvent[] = [];
  #pictures: PictureRecord[] = [];
  #dropped = 0;

  /** `now` returns monotonic milliseconds. */
  constructor(settings: () => RecorderSettings, now: () => number) {
    this.#settings = settings;
    this.#inProcess = new Allowance(PER_PROCESS, now);
    this.#byKey = new Allowance(PER_KEY, now);
  }

  readonly listener = (event: RequestEvent): void => {
    if (event.pictures.length > 0) this.#notePictures(event);
    if (!this.#isWanted(event)) return;
    if (this.#isAllowed(event)) this.#events.push(event);
    else this.#dropped += 1;
  };

  /** Removes and returns the collected records. */
  take(): { records: RequestRecord[]; pictures: PictureRecord[] } {
    const taken = { records: this.#events.map(recordOf), pictures: this.#pictures };
    this.#events = [];
    this.#pictures = [];
    return taken;
  }

  /** Number of requests that were not recorded, because of the limits or because the database did not accept them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds `count` records, which the database did not accept, to `dropped`. */
  lose(count: number): void {
    this.#dropped += count;
  }

  families(): MetricFamily[] {
    return [counter("gateway_request_log_dropped_total", this.#dropped)];
  }

  #isWanted({ route, status, code, attempts, durationMs, keyId }: RequestEvent): boolean {
    const { log, slowMs } = this.#settings();
    const needsLooking = status >= 400 || code !== null || attempts.length > 1 || durationMs >= slowMs;
    return (needsLooking || (log === "all" && keyId !== null)) && !UNRECORDED.test(route);
  }

  #isAllowed({ keyId }: RequestEvent): boolean {
    if (this.#events.length >= MAX_WAITING) return false;
    if (keyId !== null && this.#settings().log === "all") return true;
    return this.#byKey.take(keyId ?? "") && this.#inProcess.take("");
  }

  #notePictures({
    at,
    durationMs,
    organizationId,
    keyId,
    model,
    requestId,
    id,
    pictures,
  }: RequestEvent): void {
    if (organizationId === null || keyId === null || this.#pictures.length >= MAX_WAITING) return;
    const about = { organizationId, keyId, model: model ?? "", requestId, ledgerId: id };
    const deliveredAt = Math.round(at + durationMs);
    for (const picture of pictures) this.#pictures.push({ ...picture, ...about, at: deliveredAt });
  }
}

function recordOf(event: RequestEvent): RequestRecord {
  const { attempts, message, cause } = event;
  return {
    id: event.id,
    requestId: event.requestId,
    traceId: event.traceId,
    at: event.at,
    route: event.route,
    method: event.method,
    path: event.path.slice(0, MAX_TEXT),
    address: event.address,
    organizationId: event.organizationId,
    keyId: event.keyId,
    source: event.source,
    model: event.model,
    askedModel: event.askedModel === null ? null : redact(event.askedModel.slice(0, MAX_NAME)).toWellFormed(),
    client:
      event.client === null ? null : event.client.slice(0, MAX_NAME).replace(/\s.*$/s, "").toWellFormed(),
    channel: event.channel ?? attempts.at(-1)?.channel ?? null,
    status: event.status,
    code: event.code,
    message: message === null ? null : redact(message).slice(0, MAX_TEXT),
    // A member who sees all organizations may need the vendor's own message. Only such members can read the cause.
    cause: cause === undefined ? null : causeText(cause, "debug").replace(/^UpstreamError: /, ""),
    durationMs: event.durationMs,
    firstByteMs: event.firstByteMs,
    isStream: event.isStream,
    isFailed: isFailed(event),
    isCharged: event.ledgerId !== null,
    attempts,
  };
}

interface Bounds {
  atOnce: number;
  perSecond: number;
}

/** Maximum number of remembered names. At the limit, the oldest is forgotten and may send another burst. */
const MAX_NAMES = 10_000;

/** Limits each name to a burst and then to a rate per second (token bucket). */
class Allowance {
  readonly #bounds: Bounds;
  readonly #now: () => number;
  readonly #left = new Map<string, { amount: number; at: number }>();

  constructor(bounds: Bounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** Takes one token from the name's bucket. Returns false when the bucket is empty. */
  take(name: string): boolean {
    const { atOnce, perSecond } = this.#bounds;
    const at = this.#now();
    const known = this.#left.get(name);
    const amount = known ? Math.min(atOnce, known.amount + ((at - known.at) * perSecond) / 1000) : atOnce;
    if (!known && this.#left.size >= MAX_NAMES) this.#forgetOldest();
    const isLeft = amount >= 1;
    this.#left.set(name, { amount: isLeft ? amount - 1 : amount, at });
    return isLeft;
  }

  #forgetOldest(): void {
    const [oldest] = this.#left.keys();
    if (oldest !== undefined) this.#left.delete(oldest);
  }
}

/** Maximum number of prompts that wait for the database. Further prompts are dropped. */
const MAX_WAITING_PROMPTS = 500;
const DAY_MS = 24 * 60 * 60_000;

/** Collects prompts and replies of organizations that log them, until the database writer takes them. */
export class PromptRecorder {
  #events: RequestEvent[] = [];

  readonly listener = (event: RequestEvent): void => {
    if (event.content !== null && this.#events.length < MAX_WAITING_PROMPTS) this.#events.push(event);
  };

  /** Removes and returns at most `limit` records, oldest first. */
  take(limit: number): PromptRecord[] {
    return this.#events.splice(0, limit).flatMap(promptOf);
  }
}

function promptOf({ id, at, organizationId, keyId, model, content }: RequestEvent): PromptRecord[] {
  if (content === null || organizationId === null || keyId === null) return [];
  return [
    {
      id,
      at,
      organizationId,
      keyId,
      model,
      prompt: redactPersonal(content.prompt),
      reply: redactPersonal(content.reply),
      expiresAt: at + content.days * DAY_MS,
    },
  ];
}
