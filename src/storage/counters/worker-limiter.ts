import {
  openAmount,
  type LimitCounter,
  type Limiter,
  type LimitRequest,
  type LimitReservation,
  type LimitVerdict,
} from "../../gateway/admission/limits.ts";
import { MemoryLimiter } from "../../gateway/admission/memory-limiter.ts";
import type { Clock } from "../../lib/clock.ts";
import { every, type BackgroundWork } from "../../lib/waiting.ts";
import {
  counterName,
  CREDIT_MS,
  type LimitCredit,
  type SupervisorLimits,
  type SupervisorLink,
  type WorkerLimits,
} from "./limit-messages.ts";

/** Interval at which expired credits are returned. */
const FLUSH_MS = 100;
/** A counter with two takes within this time is busy enough for a credit. */
const BUSY_MS = 100;
/** Maximum time to wait for the supervisor. */
const MAX_WAIT_MS = 1_000;

interface WorkerLimiterOptions {
  link: SupervisorLink;
  workers: number;
  clock: Clock;
}

/**
 * Counts together with the other workers of the machine through their supervisor; the sum is exact. Requests within a
 * credit are admitted at once; every other request costs one message and its reply. While the supervisor is
 * unavailable, each worker counts within its share of the limits.
 */
export class WorkerLimiter implements Limiter {
  readonly #link: SupervisorLink;
  readonly #clock: Clock;
  readonly #fallback: MemoryLimiter;
  readonly #credits = new Map<string, Credit>();
  /** Time of the last take that was sent to the supervisor, by counter, in monotonic milliseconds. */
  readonly #takenAt = new Map<string, number>();
  readonly #pending = new Map<number, PendingTake>();
  readonly #background: BackgroundWork;
  #outbox: WorkerLimits = emptyMessage();
  #isFlushing = false;
  #nextId = 0;

  constructor({ link, workers, clock }: WorkerLimiterOptions) {
    this.#link = link;
    this.#clock = clock;
    this.#fallback = new MemoryLimiter({ clock, share: () => workers });
    link.onLimits((message) => this.#receive(message));
    this.#background = every(
      FLUSH_MS,
      () => this.#tick(),
      () => {},
    );
  }

  take(requests: readonly LimitRequest[]): LimitVerdict | Promise<LimitVerdict> {
    if (!this.#link.isConnected()) return this.#fallback.take(requests);
    return this.#takeFromCredits(requests) ?? this.#takeFromSupervisor(requests);
  }

  close(): void {
    void this.#background.stop();
  }

  #takeFromCredits(requests: readonly LimitRequest[]): LimitVerdict | null {
    const now = this.#clock.monotonic();
    const credits: Credit[] = [];
    for (const request of requests) {
      const credit = this.#credits.get(counterName(request));
      if (!credit || credit.endsAt <= now || credit.limit !== request.limit || credit.left < request.amount)
        return null;
      credits.push(credit);
    }
    const windows = requests.map(({ quantity, limit, amount }, index) => {
      const { remaining = 0, left = 0, resetSeconds = 0 } = credits[index] ?? {};
      return { quantity, limit, remaining: remaining + left - amount, resetSeconds };
    });
    for (const [index, credit] of credits.entries()) {
      const request = requests[index];
      if (!request) continue;
      credit.left -= request.amount;
      credit.open += openAmount(request);
    }
    return { isAdmitted: true, windows, reservation: this.#creditReservation(credits, requests) };
  }

  #takeFromSupervisor(requests: readonly LimitRequest[]): Promise<LimitVerdict> {
    const now = this.#clock.monotonic();
    let wantsCredit = false;
    for (const request of requests) {
      const name = counterName(request);
      wantsCredit ||= now - (this.#takenAt.get(name) ?? -Infinity) < BUSY_MS;
      this.#takenAt.set(name, now);
    }
    const { promise, resolve } = Promise.withResolvers<LimitVerdict>();
    const id = this.#nextId++;
    this.#pending.set(id, { requests, resolve, sentAt: now, isAbandoned: false });
    this.#outbox.takes.push({ id, requests, wantsCredit });
    this.#flushSoon();
    return promise;
  }

  #receive(message: SupervisorLimits): void {
    if (message.kind === "recall") {
      this.#returnCredit(message.counter);
      this.#flush();
      return;
    }
    const { id, verdict, takenAt, credits } = message;
    const endsAt = this.#clock.monotonic() + CREDIT_MS;
    for (const credit of credits) {
      this.#credits.set(counterName(credit.counter), {
        ...credit,
        takeId: id,
        left: credit.amount,
        open: 0,
        takenAt,
        endsAt,
      });
    }
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (!pending) return;
    if (!verdict.isAdmitted) return pending.resolve(verdict);
    const reservation = this.#reservation(id, pending.requests, takenAt);
    if (!pending.isAbandoned) return pending.resolve({ ...verdict, reservation });
    for (const request of pending.requests)
      this.#correct(request, takenAt, -request.amount, openAmount(request));
    reservation.release();
    this.#flush();
  }

  /** Returns the reservation of a take that the supervisor has counted. */
  #reservation(id: number, requests: readonly LimitRequest[], takenAt: number): LimitReservation {
    let isOpen = true;
    return {
      correct: (quantity, by): undefined => {
        for (const request of requests)
          if (request.quantity === quantity)
            this.#correct(request, takenAt, by, isOpen ? openAmount(request) : 0);
        isOpen = false;
        this.#flush();
      },
      release: () => {
        if (!requests.some(({ quantity }) => quantity === "concurrent_images")) return;
        this.#outbox.releases.push(id);
        this.#flushSoon();
      },
    };
  }

  /**
   * Returns a reservation that is counted against this worker's credits. A correction goes to the supervisor when its
   * credit was returned or does not cover it.
   */
  #creditReservation(credits: readonly Credit[], requests: readonly LimitRequest[]): LimitReservation {
    let isOpen = true;
    return {
      correct: (quantity, by): undefined => {
        for (const [index, credit] of credits.entries()) {
          const request = requests[index];
          if (request?.quantity !== quantity) continue;
          const closed = isOpen ? openAmount(request) : 0;
          const isHeld = this.#credits.get(counterName(request)) === credit;
          if (isHeld) credit.open -= closed;
          if (isHeld && credit.left >= by) credit.left -= by;
          else this.#correct(request, credit.takenAt, by, isHeld ? 0 : closed);
        }
        isOpen = false;
        this.#flush();
      },
      release: () => {},
    };
  }

  #correct({ scope, quantity, owner }: LimitCounter, takenAt: number, by: number, closed: number): void {
    if (quantity === "concurrent_images" || (by === 0 && closed === 0)) return;
    this.#outbox.corrections.push({ counter: { scope, quantity, owner }, takenAt, by, closed });
  }

  /**
   * Sends a credit back to the supervisor. Also confirms the recall of a credit that the worker no longer has, because
   * the supervisor waits for a confirmation.
   */
  #returnCredit(counter: LimitCounter): void {
    const name = counterName(counter);
    const { takeId = null, left: unused = 0, open = 0 } = this.#credits.get(name) ?? {};
    this.#outbox.returns.push({ counter, takeId, unused, open });
    this.#credits.delete(name);
  }

  #tick(): void {
    const now = this.#clock.monotonic();
    for (const { counter, endsAt } of this.#credits.values()) if (endsAt <= now) this.#returnCredit(counter);
    for (const [name, at] of this.#takenAt) if (now - at > BUSY_MS) this.#takenAt.delete(name);
    for (const pending of this.#pending.values()) {
      if (pending.isAbandoned || now - pending.sentAt < MAX_WAIT_MS) continue;
      pending.isAbandoned = true;
      pending.resolve(this.#fallback.take(pending.requests));
    }
    this.#flush();
  }

  /** Sends everything that was collected in this turn of the event loop as one message. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushing = false;
    const message = this.#outbox;
    if (Object.values(message).every((items) => items.length === 0)) return;
    this.#outbox = emptyMessage();
    this.#link.sendLimits(message);
  }
}

interface Credit extends LimitCredit {
  takeId: number;
  left: number;
  /** The part of the admitted amount that running requests may still give back. */
  open: number;
  /** Time at which the supervisor counted the credit, in its monotonic milliseconds. */
  takenAt: number;
  /** End of the credit, in monotonic milliseconds of this process. */
  endsAt: number;
}

interface PendingTake {
  requests: readonly LimitRequest[];
  resolve(verdict: LimitVerdict): void;
  /** Monotonic milliseconds at which the take was sent. */
  sentAt: number;
  /** True when the worker has decided by itself because the supervisor was late. A later grant is given back. */
  isAbandoned: boolean;
}

function emptyMessage(): WorkerLimits {
  return { returns: [], corrections: [], releases: [], takes: [] };
}
