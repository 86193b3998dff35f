import {
  SLOT_RETRY_MS,
  openAmount,
  retrySeconds,
  type LimitCounter,
  type Limiter,
  type LimitQuantity,
  type LimitReservation,
  type LimitVerdict,
  type LimitRequest,
} from "../../gateway/admission/limits.ts";
import { MemoryLimiter, MINUTE_MS } from "../../gateway/admission/memory-limiter.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import { every, type BackgroundWork } from "../../lib/waiting.ts";
import {
  CORRECT,
  EPOCH,
  limitArguments,
  PROBE,
  readEpoch,
  readTake,
  RENEW,
  SEED,
  SLOTS,
  TAKE,
  windowsOf,
} from "./limit-scripts.ts";
import { ConcurrencySlots } from "./slots.ts";
import { RedisLink, type Send } from "./redis-link.ts";

export interface RedisLimiterOptions {
  url: string;
  /** Beginning of the name of every key. */
  prefix?: string;
  /** Returns the number of processes on the same store. They share the limits while the store is unavailable. */
  processes: () => number;
  clock: Clock;
  /** Maximum milliseconds that a request waits for the store. */
  boundMs?: number;
  windowMs?: number;
  /** Milliseconds for which a concurrency slot outlives its process. */
  slotMs?: number;
  /**
   * Called at the start and after every change: `isDegraded` is true while limits are counted locally, and `cause` is
   * the reason. Must not throw.
   */
  onDegraded(isDegraded: boolean, cause?: unknown): void;
  /** Called with the duration of each call, in seconds. */
  onCall?: ((seconds: number) => void) | undefined;
}

const BOUND_MS = 50;
const SLOT_MS = 45_000;
const RENEWALS = 3;
const EPOCH_CHECK_MS = 1000;
/** Time after a loss of data in which limits are also counted locally, until all processes notice the loss. */
const SETTLE_MS = 2 * EPOCH_CHECK_MS;
/** Number of windows written by one call, so that the call takes a fraction of the bound. */
const SEEDED_AT_ONCE = 100;

/**
 * Counts in Redis, by the server's clock. The sum over all processes is exact; a take costs one round trip and one
 * atomic script. No request waits longer than the bound (50 ms): when the store fails or is slower, each process counts
 * alone until the store is quick again. The limit of a process is then the configured limit divided by the number of
 * processes, and the grants from before the failure count. When the store has lost its data (FLUSHALL, a restart
 * without persistence), each process writes its grants to the store again. Apart from corrections, the sum may exceed a
 * limit in two cases, by less than the limit itself: when the store's clock is set forward, and around an outage with
 * uneven load.
 */
export class RedisLimiter implements Limiter {
  /** Settles when the first connection is established or has failed. Never rejects. */
  readonly ready: Promise<void>;
  readonly #fallback: MemoryLimiter;
  readonly #link: RedisLink;
  readonly #slots: ConcurrencySlots;
  readonly #work: readonly BackgroundWork[];
  readonly #clock: Clock;
  readonly #epochMs: string;
  readonly #prefix: string;
  readonly #windowArguments: readonly [string, string];
  readonly #slotMs: number;
  readonly #send: Send = (command, args) => this.#link.send(command, args);
  /** Number of connections and losses of data so far. After each of these, the store may lack earlier grants. */
  #connection = 0;
  /** Name of the store's data as last seen by this process. Another name means that the store has lost its data. */
  #epoch = "";
  /**
   * Monotonic milliseconds until which other processes may still write their grants to the store again after a loss.
   */
  #settlesAt = -Infinity;

  constructor(options: RedisLimiterOptions) {
    const { url, prefix = "gateway:", processes, clock, boundMs = BOUND_MS } = options;
    const { windowMs = MINUTE_MS, slotMs = SLOT_MS, onDegraded, onCall } = options;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#slotMs = slotMs;
    this.#windowArguments = [String(windowMs), String(windowMs / SLOTS)];
    this.#slots = new ConcurrencySlots(newId("proc"), slotMs);
    this.#epochMs = String(windowMs * 2 + EPOCH_CHECK_MS);
    this.#fallback = new MemoryLimiter({ clock, share: processes, windowMs });
    this.#link = new RedisLink({
      url,
      boundMs,
      prepare: (send) => this.#prepare(send),
      onState: (isUp, cause) => onDegraded(!isUp, cause),
      onCall,
    });
    this.ready = this.#link.ready;
    const whileUp = (work: () => Promise<void>) => (this.#link.isUp ? work() : undefined);
    // A failed call closes its connection, and the link reports that, so the error is ignored here.
    const ignore = () => {};
    this.#work = [
      every(slotMs / RENEWALS, () => whileUp(() => this.#slots.renew(this.#send)), ignore),
      every(EPOCH_CHECK_MS, () => whileUp(() => this.#checkEpoch(this.#send)), ignore),
    ];
  }

  take(requests: readonly LimitRequest[]): LimitVerdict | Promise<LimitVerdict> {
    if (!this.#link.isUp) return this.#fallback.take(requests);
    return this.#isSettling() ? this.#takeLocal(requests) : this.#takeShared(requests);
  }

  close(): void {
    for (const work of this.#work) void work.stop();
    this.#link.close();
  }

  #isSettling(): boolean {
    return this.#clock.monotonic() < this.#settlesAt;
  }

  /**
   * Counts within this process's share of the limits. After a loss of data, while all processes write their grants
   * back, also counts in the store.
   */
  #takeLocal(requests: readonly LimitRequest[]): LimitVerdict {
    const verdict = this.#fallback.take(requests);
    if (!verdict.isAdmitted || !this.#isSettling()) return verdict;
    for (const { quantity, amount, ...counter } of requests)
      if (quantity !== "concurrent_images")
        void this.#correct([{ quantity, amount, ...counter }], quantity, { at: 0, by: amount, closed: 0 });
    return verdict;
  }

  async #takeShared(requests: readonly LimitRequest[]): Promise<LimitVerdict> {
    const slots = this.#keys(requests, "concurrent_images");
    const slot = slots.length > 0 ? this.#slots.nextName() : "";
    const connection = this.#connection;
    const raw = await this.#send("EVALSHA", this.#takeArguments(requests, slot)).catch(() => null);
    const response = readTake(raw, requests.length);
    if (!response) {
      if (slot) this.#slots.giveBack(slot, slots, this.#send);
      if (raw !== null) this.#checkEpoch(this.#send).catch(() => {});
      return this.#takeLocal(requests);
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
    const args = [TAKE.sha, String(requests.length + 1)];
    for (const request of requests) args.push(this.#key(request));
    args.push(this.#epochKey, ...this.#windowArguments);
    args.push(String(this.#slotMs), String(SLOT_RETRY_MS), slot, this.#epoch);
    return args.concat(limitArguments(requests));
  }

  /** Every grant is also counted locally, so that the fallback knows what this process has already used. */
  #reservation(
    requests: readonly LimitRequest[],
    shared: { slot: string; connection: number; at: number },
  ): LimitReservation {
    const local = this.#fallback.record(requests);
    let isOpen = true;
    return {
      correct: (quantity, by) => {
        local.correct(quantity, by);
        const request = isOpen ? requests.find((request) => request.quantity === quantity) : undefined;
        const closed = request ? openAmount(request) : 0;
        isOpen = false;
        if (shared.connection !== this.#connection || !this.#link.isUp) return undefined;
        const correcting = this.#correct(requests, quantity, { at: shared.at, by, closed });
        // A correction by 0 only changes `Retry-After` of later requests, so no response waits for such a correction.
        return by === 0 ? undefined : correcting;
      },
      release: () => {
        local.release();
        if (shared.slot === "") return;
        this.#slots.giveBack(shared.slot, this.#keys(requests, "concurrent_images"), this.#send);
      },
    };
  }

  /** Corrects an amount in the store. Resolves when the store has the correction or is unavailable. */
  #correct(
    requests: readonly LimitRequest[],
    quantity: LimitQuantity,
    { at, by, closed }: { at: number; by: number; closed: number },
  ): Promise<void> | undefined {
    const keys = this.#keys(requests, quantity);
    if (keys.length === 0 || (by === 0 && closed === 0)) return undefined;
    const numbers = [at, by, closed].map(String);
    const args = [CORRECT.sha, String(keys.length), ...keys, ...this.#windowArguments, ...numbers];
    return this.#link.send("EVALSHA", args).then(
      () => {},
      () => {},
    );
  }

  /** Loads the scripts into the store over a new connection, and tests that the store accepts writes and is quick. */
  async #prepare(send: Send): Promise<void> {
    for (const { source } of [EPOCH, SEED, TAKE, CORRECT, RENEW]) await send("SCRIPT", ["LOAD", source]);
    await this.#checkEpoch(send);
    await send("EVALSHA", this.#takeArguments([PROBE], ""));
    await this.#slots.renew(send);
    this.#connection++;
  }

  /** Writes this process's grants and concurrency slots to the store again, if the store has lost its data. */
  async #checkEpoch(send: Send): Promise<void> {
    const [epoch, ageMs] = readEpoch(
      await send("EVALSHA", [EPOCH.sha, "1", this.#epochKey, newId("proc"), this.#epochMs]),
    );
    if (epoch === this.#epoch) return;
    // The age of the data is subtracted, so that all processes end the local counting at the same time. A process that
    // is connecting need not count locally, because it has granted nothing in the store since the loss.
    if (this.#link.isUp) this.#settlesAt = this.#clock.monotonic() + SETTLE_MS - ageMs;
    this.#epoch = epoch;
    this.#connection++;
    const granted = [...this.#fallback.uses()].filter(({ uses }) => uses.length > 0);
    for (let from = 0; from < granted.length; from += SEEDED_AT_ONCE) {
      const windows = granted.slice(from, from + SEEDED_AT_ONCE);
      const keys = windows.map((window) => this.#key(window));
      const numbers = windows.flatMap(({ uses }) => [uses.length].concat(...uses));
      const args = [SEED.sha, String(keys.length), ...keys, ...this.#windowArguments];
      await send("EVALSHA", args.concat(numbers.map(String)));
    }
    await this.#slots.renew(send);
  }

  #keys(requests: readonly LimitRequest[], quantity: LimitQuantity): string[] {
    return requests.filter((request) => request.quantity === quantity).map((request) => this.#key(request));
  }

  get #epochKey(): string {
    return `${this.#prefix}epoch`;
  }

  #key({ scope, quantity, owner }: LimitCounter): string {
    return `${this.#prefix}${scope}:${quantity}:${owner}`;
  }
}
