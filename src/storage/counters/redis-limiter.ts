import {
  SLOT_RETRY_MS,
  retrySeconds,
  type Limiter,
  type LimitQuantity,
  type LimitReservation,
  type LimitVerdict,
  type LimitWindow,
  type LimitRequest,
} from "../../gateway/admission/limits.ts";
import { MemoryLimiter, MINUTE_MS } from "../../gateway/admission/memory-limiter.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import { CORRECT, RENEW, SLOTS, TAKE } from "./limit-scripts.ts";
import { ConcurrencySlots } from "./slots.ts";
import { RedisLink, type Send } from "./redis-link.ts";

export interface RedisLimiterOptions {
  url: string;
  /** Begins the name of every key. */
  prefix?: string;
  /** Processes that count in the same store, by which limits are divided while it is away. */
  processes: number;
  clock: Clock;
  /** The longest a request waits for the store. */
  boundMs?: number;
  windowMs?: number;
  /** How long a place outlives its process. */
  slotMs?: number;
  /** Hears whether limits are local just now, and why: once at the start and at every change. Must not throw. */
  onDegraded(isDegraded: boolean, cause?: unknown): void;
}

const BOUND_MS = 50;
const SLOT_MS = 45_000;
const RENEWALS = 3;

/**
 * Counts in Redis: exact in sum over all processes, one round trip and one atomic script a request, on the server's
 * clock. A store that fails or takes longer than the bound (50 ms) is not waited for: until it is quick again each
 * process keeps to the limit divided by the number of processes, what it had been granted before included.
 *
 * The sum may exceed a limit only when the store loses its data, when its clock is set forward, or around an
 * outage under uneven load, in each case by less than the limit itself.
 */
export class RedisLimiter implements Limiter {
  /** Settles when the first connection stands or has failed. */
  readonly ready: Promise<void>;
  readonly #fallback: MemoryLimiter;
  readonly #link: RedisLink;
  readonly #slots: ConcurrencySlots;
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #prefix: string;
  readonly #windowArguments: readonly [string, string];
  readonly #slotMs: number;
  readonly #send: Send = (command, args) => this.#link.send(command, args);
  /** Counts connections: what was granted on an earlier one may be gone from the store. */
  #connection = 0;

  constructor(options: RedisLimiterOptions) {
    const { url, prefix = "gateway:", processes, clock, boundMs = BOUND_MS } = options;
    const { windowMs = MINUTE_MS, slotMs = SLOT_MS, onDegraded } = options;
    this.#prefix = prefix;
    this.#slotMs = slotMs;
    this.#windowArguments = [String(windowMs), String(windowMs / SLOTS)];
    this.#slots = new ConcurrencySlots(newId("proc"), slotMs);
    this.#fallback = new MemoryLimiter({ clock, share: processes, windowMs });
    this.#link = new RedisLink({
      url,
      boundMs,
      prepare: (send) => this.#prepare(send),
      onState: (isUp, cause) => onDegraded(!isUp, cause),
    });
    this.ready = this.#link.ready;
    this.#heartbeat = setInterval(() => this.#beat(), slotMs / RENEWALS);
    this.#heartbeat.unref();
  }

  take(requests: readonly LimitRequest[]): LimitVerdict | Promise<LimitVerdict> {
    return this.#link.isUp ? this.#takeShared(requests) : this.#fallback.take(requests);
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#link.close();
  }

  async #takeShared(requests: readonly LimitRequest[]): Promise<LimitVerdict> {
    const slots = this.#keys(requests, "concurrent_images");
    const slot = slots.length > 0 ? this.#slots.nextName() : "";
    const connection = this.#connection;
    const response = await this.#link
      .send("EVALSHA", this.#takeArguments(requests, slot))
      .then((response) => readNumbers(response, requests.length))
      .catch(() => null);
    if (!response) {
      if (slot) this.#slots.giveBack(slot, slots, this.#send);
      return this.#fallback.take(requests);
    }
    const failed = requests[(response[0] ?? 0) - 1];
    const windows = windowsOf(requests, response);
    if (failed)
      return { isAdmitted: false, windows, failed, retryAfterSeconds: retrySeconds(response[1] ?? 0) };
    if (slot) this.#slots.hold(slot, slots);
    return {
      isAdmitted: true,
      windows,
      reservation: this.#reservation(requests, { slot, connection, at: response[2] ?? 0 }),
    };
  }

  #takeArguments(requests: readonly LimitRequest[], slot: string): string[] {
    const args = [TAKE.sha, String(requests.length)];
    for (const request of requests) args.push(this.#key(request));
    args.push(...this.#windowArguments, String(this.#slotMs), String(SLOT_RETRY_MS), slot);
    for (const { quantity, limit, amount } of requests) {
      args.push(quantity === "concurrent_images" ? "place" : "window", String(limit), String(amount));
    }
    return args;
  }

  /** Every grant is counted locally too, so that the fallback knows what this process has used already. */
  #reservation(
    requests: readonly LimitRequest[],
    shared: { slot: string; connection: number; at: number },
  ): LimitReservation {
    const local = this.#fallback.record(requests);
    return {
      correct: (quantity, by) => {
        local.correct(quantity, by);
        if (shared.connection === this.#connection && this.#link.isUp)
          this.#correct(requests, shared.at, quantity, by);
      },
      release: () => {
        local.release();
        if (shared.slot === "") return;
        this.#slots.giveBack(shared.slot, this.#keys(requests, "concurrent_images"), this.#send);
      },
    };
  }

  #correct(requests: readonly LimitRequest[], at: number, quantity: LimitQuantity, by: number): void {
    const keys = this.#keys(requests, quantity);
    if (keys.length === 0) return;
    const args = [
      CORRECT.sha,
      String(keys.length),
      ...keys,
      ...this.#windowArguments,
      String(at),
      String(by),
    ];
    this.#link.send("EVALSHA", args).catch(() => {});
  }

  /** Loads the scripts and proves that the store can write and is quick. */
  async #prepare(send: Send): Promise<void> {
    for (const { source } of [TAKE, CORRECT, RENEW]) await send("SCRIPT", ["LOAD", source]);
    await send("EVALSHA", this.#takeArguments([PROBE], ""));
    await this.#slots.renew(send);
    this.#connection++;
  }

  #beat(): void {
    if (this.#link.isUp) this.#slots.renew(this.#send).catch(() => {});
  }

  #keys(requests: readonly LimitRequest[], quantity: LimitQuantity): string[] {
    return requests.filter((request) => request.quantity === quantity).map((request) => this.#key(request));
  }

  #key({ scope, quantity, owner }: LimitRequest): string {
    return `${this.#prefix}${scope}:${quantity}:${owner}`;
  }
}

const PROBE: LimitRequest = {
  quantity: "requests",
  scope: "key",
  owner: "probe",
  limit: 1_000_000,
  amount: 1,
};

/** The script's answer: the failed wish, the wait, the time, and two numbers for each wish. */
function readNumbers(response: unknown, requestCount: number): number[] | null {
  if (!Array.isArray(response) || response.length !== 3 + requestCount * 2) return null;
  return response.every((item) => typeof item === "number") ? response : null;
}

function windowsOf(requests: readonly LimitRequest[], response: readonly number[]): LimitWindow[] {
  return requests.flatMap(({ quantity, limit }, index) => {
    if (quantity === "concurrent_images") return [];
    const remaining = response[3 + index * 2] ?? 0;
    return [{ quantity, limit, remaining, resetSeconds: Math.ceil((response[4 + index * 2] ?? 0) / 1000) }];
  });
}
