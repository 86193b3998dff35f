import type { Route, Target } from "../../domain/channel.ts";
import type { ConcurrencyLimiter } from "./call-bounds.ts";
import type { Health } from "./health.ts";

/**
 * Returns a route's targets in calling order. The strategy `ordered` keeps the listed order. With `weighted`, each next
 * target is chosen at random, by weight, from the remaining targets. `random` returns numbers from 0 up to 1.
 */
export function orderTargets({ strategy, targets }: Route, random: () => number): readonly Target[] {
  if (strategy === "ordered" || targets.length === 1) return targets;
  const left = [...targets];
  const order: Target[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, target) => sum + target.weight, 0);
    let point = random() * total;
    const index = left.findIndex((target) => (point -= target.weight) < 0);
    order.push(...left.splice(Math.max(index, 0), 1));
  }
  return order;
}

/**
 * Returns the targets whose context is large enough for the input. Returns all targets if none is large enough, because
 * the input is an estimate. `contextWindow` is the model's context, for targets without their own.
 */
export function targetsThatFit(
  targets: readonly Target[],
  inputTokens: number,
  contextWindow?: number,
): readonly Target[] {
  const fits = (target: Target): boolean => inputTokens <= windowOf(target, contextWindow);
  if (targets.every(fits)) return targets;
  return targets.some(fits) ? targets.filter(fits) : targets;
}

/** Returns a target's context in tokens; `ofModel` is the model's. An unknown context counts as unlimited. */
function windowOf({ contextWindow }: Target, ofModel: number | undefined): number {
  return contextWindow ?? ofModel ?? Infinity;
}

/**
 * The targets that one request may still call, in order. Ejected targets are skipped. The last of several calls goes to
 * a target that the request has not called and whose most recent call did not fail, if there is such a target.
 * Otherwise failing targets could use up all calls of the request.
 */
export class TargetQueue {
  readonly #queue: Target[];
  readonly #called: Target[] = [];
  readonly #health: Health;
  readonly #concurrency: ConcurrencyLimiter;
  readonly #organization: string;
  readonly #maxCalls: number;
  readonly #afterTimeout: Target | null;

  constructor(
    targets: readonly Target[],
    {
      health,
      concurrency,
      maxAttempts,
    }: { health: Health; concurrency: ConcurrencyLimiter; maxAttempts: number },
    organization: string,
    afterTimeout: Target | null = null,
  ) {
    this.#afterTimeout = afterTimeout;
    this.#queue = [...targets];
    this.#health = health;
    this.#concurrency = concurrency;
    this.#organization = organization;
    this.#maxCalls = maxAttempts;
  }

  /** Removes and returns the next target to call; undefined when the request may make no further call. */
  next(): Target | undefined {
    const callsLeft = this.#maxCalls - this.#called.length;
    if (callsLeft <= 0) return undefined;
    // A request with a single call keeps the order; otherwise no such request would ever call a failed target again.
    const sound = callsLeft === 1 && this.#called.length > 0 ? this.#findSound() : -1;
    const index = sound >= 0 ? sound : this.#health.firstAvailable(this.#queue, this.#organization);
    return index >= 0 ? this.#queue.splice(index, 1)[0] : undefined;
  }

  countCall(target: Target): void {
    this.#called.push(target);
  }

  /** Returns how often the request has called the target. */
  callsTo(target: Target): number {
    if (!this.#called.includes(target)) return 0;
    return this.#called.filter((other) => other === target).length;
  }

  /** Puts the target at the end of the queue, to be called again. */
  repeat(target: Target): void {
    this.#queue.push(target);
  }

  /** Puts the target for calls after a timeout at the front of the queue, if it was not called yet. */
  moveAfterTimeout(): void {
    const target = this.#afterTimeout;
    if (!target || this.#called.includes(target)) return;
    const index = this.#queue.indexOf(target);
    if (index >= 0) this.#queue.splice(index, 1);
    this.#queue.unshift(target);
  }

  /** Removes targets whose known context is not larger than the context of `tooSmall`, which the input has exceeded. */
  dropNoLarger(tooSmall: Target, contextWindow?: number): void {
    const exceeded = windowOf(tooSmall, contextWindow);
    if (exceeded === Infinity) return;
    const isLarger = (target: Target) => windowOf(target, contextWindow) > exceeded;
    this.#queue.splice(0, this.#queue.length, ...this.#queue.filter(isLarger));
  }

  /** True when a target that was not called yet could be called next, now or after a timeout. */
  hasAnother(): boolean {
    const candidates = this.#afterTimeout ? [this.#afterTimeout, ...this.#queue] : this.#queue;
    return this.#called.length < this.#maxCalls && candidates.some((target) => this.#isUnusedAndFree(target));
  }

  #findSound(): number {
    return this.#queue.findIndex(
      (target) => this.#isUnusedAndFree(target) && !this.#health.isSuspect(target, this.#organization),
    );
  }

  #isUnusedAndFree(target: Target): boolean {
    return (
      !this.#called.includes(target) &&
      this.#health.isAvailable(target, this.#organization) &&
      this.#concurrency.hasSlot(target.channel, this.#organization)
    );
  }
}
