import {
  PLACE_RETRY_MS,
  retrySeconds,
  type Limiter,
  type LimitQuantity,
  type LimitTicket,
  type LimitVerdict,
  type LimitWindow,
  type LimitWish,
} from "../../gateway/admission/limits.ts";
import { MemoryLimiter, MINUTE_MS } from "../../gateway/admission/memory-limiter.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import { CORRECT, RENEW, SLOTS, TAKE } from "./limit-scripts.ts";
import { Places } from "./places.ts";
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
  placeMs?: number;
  /** Hears whether limits are local just now, and why: once at the start and at every change. Must not throw. */
  onDegraded(isDegraded: boolean, cause?: unknown): void;
}

const BOUND_MS = 50;
const PLACE_MS = 45_000;
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
  readonly #places: Places;
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #prefix: string;
  readonly #windowArguments: readonly [string, string];
  readonly #placeMs: number;
  readonly #send: Send = (command, args) => this.#link.send(command, args);
  /** Counts connections: what was granted on an earlier one may be gone from the store. */
  #connection = 0;

  constructor(options: RedisLimiterOptions) {
    const { url, prefix = "gateway:", processes, clock, boundMs = BOUND_MS } = options;
    const { windowMs = MINUTE_MS, placeMs = PLACE_MS, onDegraded } = options;
    this.#prefix = prefix;
    this.#placeMs = placeMs;
    this.#windowArguments = [String(windowMs), String(windowMs / SLOTS)];
    this.#places = new Places(newId("proc"), placeMs);
    this.#fallback = new MemoryLimiter({ clock, share: processes, windowMs });
    this.#link = new RedisLink({
      url,
      boundMs,
      prepare: (send) => this.#prepare(send),
      onState: (isUp, cause) => onDegraded(!isUp, cause),
    });
    this.ready = this.#link.ready;
    this.#heartbeat = setInterval(() => this.#beat(), placeMs / RENEWALS);
    this.#heartbeat.unref();
  }

  take(wishes: readonly LimitWish[]): LimitVerdict | Promise<LimitVerdict> {
    return this.#link.isUp ? this.#takeShared(wishes) : this.#fallback.take(wishes);
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#link.close();
  }

  async #takeShared(wishes: readonly LimitWish[]): Promise<LimitVerdict> {
    const places = this.#keys(wishes, "concurrent_images");
    const place = places.length > 0 ? this.#places.nextName() : "";
    const connection = this.#connection;
    const answer = await this.#link
      .send("EVALSHA", this.#takeArguments(wishes, place))
      .then((answer) => readNumbers(answer, wishes.length))
      .catch(() => null);
    if (!answer) {
      if (place) this.#places.giveBack(place, places, this.#send);
      return this.#fallback.take(wishes);
    }
    const failed = wishes[(answer[0] ?? 0) - 1];
    const windows = windowsOf(wishes, answer);
    if (failed)
      return { isAdmitted: false, windows, failed, retryAfterSeconds: retrySeconds(answer[1] ?? 0) };
    if (place) this.#places.hold(place, places);
    return {
      isAdmitted: true,
      windows,
      ticket: this.#ticket(wishes, { place, connection, at: answer[2] ?? 0 }),
    };
  }

  #takeArguments(wishes: readonly LimitWish[], place: string): string[] {
    const args = [TAKE.sha, String(wishes.length)];
    for (const wish of wishes) args.push(this.#key(wish));
    args.push(...this.#windowArguments, String(this.#placeMs), String(PLACE_RETRY_MS), place);
    for (const { quantity, limit, amount } of wishes) {
      args.push(quantity === "concurrent_images" ? "place" : "window", String(limit), String(amount));
    }
    return args;
  }

  /** Every grant is counted locally too, so that the fallback knows what this process has used already. */
  #ticket(
    wishes: readonly LimitWish[],
    shared: { place: string; connection: number; at: number },
  ): LimitTicket {
    const local = this.#fallback.record(wishes);
    return {
      correct: (quantity, by) => {
        local.correct(quantity, by);
        if (shared.connection === this.#connection && this.#link.isUp)
          this.#correct(wishes, shared.at, quantity, by);
      },
      release: () => {
        local.release();
        if (shared.place === "") return;
        this.#places.giveBack(shared.place, this.#keys(wishes, "concurrent_images"), this.#send);
      },
    };
  }

  #correct(wishes: readonly LimitWish[], at: number, quantity: LimitQuantity, by: number): void {
    const keys = this.#keys(wishes, quantity);
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
    await this.#places.renew(send);
    this.#connection++;
  }

  #beat(): void {
    if (this.#link.isUp) this.#places.renew(this.#send).catch(() => {});
  }

  #keys(wishes: readonly LimitWish[], quantity: LimitQuantity): string[] {
    return wishes.filter((wish) => wish.quantity === quantity).map((wish) => this.#key(wish));
  }

  #key({ scope, quantity, owner }: LimitWish): string {
    return `${this.#prefix}${scope}:${quantity}:${owner}`;
  }
}

const PROBE: LimitWish = { quantity: "requests", scope: "key", owner: "probe", limit: 1_000_000, amount: 1 };

/** The script's answer: the failed wish, the wait, the time, and two numbers for each wish. */
function readNumbers(answer: unknown, wishCount: number): number[] | null {
  if (!Array.isArray(answer) || answer.length !== 3 + wishCount * 2) return null;
  return answer.every((item) => typeof item === "number") ? answer : null;
}

function windowsOf(wishes: readonly LimitWish[], answer: readonly number[]): LimitWindow[] {
  return wishes.flatMap(({ quantity, limit }, index) => {
    if (quantity === "concurrent_images") return [];
    const remaining = answer[3 + index * 2] ?? 0;
    return [{ quantity, limit, remaining, resetSeconds: Math.ceil((answer[4 + index * 2] ?? 0) / 1000) }];
  });
}
