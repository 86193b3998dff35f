import type { LimitCounter, LimitReservation, LimitVerdict } from "../../gateway/admission/limits.ts";
import { MemoryLimiter, MINUTE_MS } from "../../gateway/admission/memory-limiter.ts";
import type { Clock } from "../../lib/clock.ts";
import {
  counterName,
  CREDIT_MS,
  type LimitCredit,
  type LimitTake,
  type ReturnedCredit,
  type SupervisorLimits,
  type WorkerLimits,
} from "./limit-messages.ts";
import { after } from "../../lib/waiting.ts";

/** Minimum number of requests in a credit. A smaller credit would cost more messages than it saves. */
const MIN_CREDIT_REQUESTS = 8;
/** The part of a limit's unused amount that all workers together may have as credits. */
const CREDIT_SHARE = 1 / 4;
/** Credits are given while at least this part of the limit is unused. Otherwise, each request is counted. */
const AMPLE_SHARE = 1 / 2;
/** Maximum time that a take waits for workers to return their credits. */
const RECALL_MS = 250;

interface LimitCoordinatorOptions {
  workers: number;
  clock: Clock;
  /**
   * Time for which an acquired amount counts. It includes `CREDIT_MS`, because a worker may use a credit up to
   * `CREDIT_MS` after the credit was counted.
   */
  windowMs?: number;
  send(worker: number, message: SupervisorLimits): void;
}

/**
 * Counts the limits of all workers of a machine. Requests under small limits are counted one by one. For ample limits,
 * workers get credits, which count as used until they are returned, so credits never raise the sum above a limit.
 * Before a request is refused, the credits of its limit are recalled.
 */
export class LimitCoordinator {
  readonly #options: LimitCoordinatorOptions;
  readonly #limiter: MemoryLimiter;
  /** Credits by counter, then by worker. */
  readonly #credits = new Map<string, Map<number, Credit>>();
  /** Reservations with concurrency slots, by worker and then by the id of the take. */
  readonly #slots = new Map<number, Map<number, LimitReservation>>();
  readonly #waiting = new Set<WaitingTake>();
  /** Takes that arrived in this turn of the event loop and are not decided yet. */
  #undecided: WaitingTake[] = [];

  constructor(options: LimitCoordinatorOptions) {
    this.#options = options;
    const { clock, windowMs = MINUTE_MS + CREDIT_MS } = options;
    this.#limiter = new MemoryLimiter({ clock, windowMs });
  }

  /**
   * Processes a message. Takes are decided at the end of the turn of the event loop, after all messages that arrived in
   * this turn. So a take sees the corrections that other workers sent before it.
   */
  receive(worker: number, { returns, corrections, releases, takes }: WorkerLimits): void {
    for (const returned of returns) this.#return(worker, returned);
    for (const { counter, takenAt, by, closed } of corrections)
      this.#limiter.correct(counter, takenAt, by, closed);
    for (const id of releases) {
      this.#slots.get(worker)?.get(id)?.release();
      this.#slots.get(worker)?.delete(id);
    }
    if (takes.length > 0 && this.#undecided.length === 0) setImmediate(() => this.#decideAll());
    for (const take of takes) this.#undecided.push({ worker, take, recalled: new Set(), holders: new Set() });
  }

  /** Releases the slots of an ended worker. Its credits stay counted, because the worker may have used them. */
  workerEnded(worker: number): void {
    for (const reservation of this.#slots.get(worker)?.values() ?? []) reservation.release();
    this.#slots.delete(worker);
    this.#undecided = this.#undecided.filter((waiting) => waiting.worker !== worker);
    for (const [name, credits] of this.#credits) {
      credits.delete(worker);
      if (credits.size === 0) this.#credits.delete(name);
    }
    for (const waiting of this.#waiting) {
      if (waiting.worker === worker) this.#stopWaiting(waiting);
      else this.#returned(waiting, worker);
    }
  }

  #decideAll(): void {
    const undecided = this.#undecided;
    this.#undecided = [];
    for (const waiting of undecided) this.#decide(waiting);
  }

  #decide(waiting: WaitingTake): void {
    const { worker, take } = waiting;
    const takenAt = this.#options.clock.monotonic();
    const verdict = this.#limiter.take(take.requests);
    if (!verdict.isAdmitted) {
      if (this.#recall(waiting, verdict.failed)) return;
      this.#options.send(worker, { kind: "verdict", id: take.id, verdict, takenAt, credits: [] });
      return;
    }
    if (take.requests.some(({ quantity }) => quantity === "concurrent_images")) {
      const slots = this.#slots.get(worker) ?? new Map<number, LimitReservation>();
      this.#slots.set(worker, slots.set(take.id, verdict.reservation));
    }
    const { windows } = verdict;
    const credits = take.wantsCredit ? this.#grantCredits(worker, take, verdict, takenAt) : [];
    const message = { id: take.id, verdict: { isAdmitted: true as const, windows }, takenAt, credits };
    this.#options.send(worker, { kind: "verdict", ...message });
  }

  #grantCredits(
    worker: number,
    { id, requests }: LimitTake,
    verdict: LimitVerdict,
    takenAt: number,
  ): LimitCredit[] {
    const credits: LimitCredit[] = [];
    const counted = requests.filter(({ quantity }) => quantity !== "concurrent_images");
    for (const [index, request] of counted.entries()) {
      const { remaining = 0, resetSeconds = 0 } = verdict.windows[index] ?? {};
      const amount = Math.floor((remaining * CREDIT_SHARE) / this.#options.workers);
      const isAmple =
        remaining >= request.limit * AMPLE_SHARE && amount >= MIN_CREDIT_REQUESTS * request.amount;
      if (!isAmple || request.amount === 0) continue;
      const holders = this.#holdersOf(request);
      if (holders.has(worker)) continue;
      const { scope, quantity, owner, limit } = request;
      const counter = { scope, quantity, owner };
      const { takenAt: countedAt } = this.#limiter.record([{ ...request, amount }]);
      this.#credits.set(
        counterName(counter),
        holders.set(worker, { takeId: id, amount, countedAt, grantedAt: takenAt }),
      );
      credits.push({ counter, limit, amount, remaining: remaining - amount, resetSeconds });
    }
    return credits;
  }

  /** Returns the workers that may still have credits of a counter. */
  #holdersOf(counter: LimitCounter): Map<number, Credit> {
    const holders = this.#credits.get(counterName(counter)) ?? new Map<number, Credit>();
    const expiredAt = this.#options.clock.monotonic() - CREDIT_MS - RECALL_MS;
    for (const [worker, { grantedAt }] of holders) if (grantedAt <= expiredAt) holders.delete(worker);
    return holders;
  }

  /**
   * Asks workers to return their credits of a used-up counter. Returns false when there are no such credits, or when
   * they were recalled for this take already.
   */
  #recall(waiting: WaitingTake, counter: LimitCounter): boolean {
    const name = counterName(counter);
    const holders = waiting.recalled.has(name) ? [] : [...this.#holdersOf(counter).keys()];
    if (holders.length === 0) return false;
    waiting.recalled.add(name);
    waiting.holders = new Set(holders);
    waiting.stopTimer = after(RECALL_MS, () => this.#decideAgain(waiting));
    this.#waiting.add(waiting);
    const { scope, quantity, owner } = counter;
    for (const holder of holders)
      this.#options.send(holder, { kind: "recall", counter: { scope, quantity, owner } });
    return true;
  }

  #return(worker: number, { counter, takeId, unused, open }: ReturnedCredit): void {
    const name = counterName(counter);
    const holders = this.#credits.get(name);
    const credit = holders?.get(worker);
    if (credit?.takeId === takeId) {
      this.#limiter.correct(counter, credit.countedAt, -unused, credit.amount - open);
      holders?.delete(worker);
      if (holders?.size === 0) this.#credits.delete(name);
    }
    for (const waiting of this.#waiting) if (waiting.recalled.has(name)) this.#returned(waiting, worker);
  }

  #returned(waiting: WaitingTake, worker: number): void {
    waiting.holders.delete(worker);
    if (waiting.holders.size === 0) this.#decideAgain(waiting);
  }

  #decideAgain(waiting: WaitingTake): void {
    this.#stopWaiting(waiting);
    this.#decide(waiting);
  }

  #stopWaiting(waiting: WaitingTake): void {
    waiting.stopTimer?.();
    this.#waiting.delete(waiting);
  }
}

interface Credit {
  /** Id of the worker's take with which the credit was granted. */
  takeId: number;
  amount: number;
  /** Time at which the amount was counted. `grantedAt` is the time of the take. Both are monotonic milliseconds. */
  countedAt: number;
  grantedAt: number;
}

/** A take that waits for workers to return credits. */
interface WaitingTake {
  worker: number;
  take: LimitTake;
  /** Counters whose credits were recalled for this take. */
  recalled: Set<string>;
  /** Workers that have not returned their credits yet. */
  holders: Set<number>;
  stopTimer?(): void;
}
