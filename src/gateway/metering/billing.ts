import type { Principal } from "../../domain/api-key.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { type LedgerEntry, MAX_CHARGE, type LedgerFlag } from "../../domain/ledger.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Nanos } from "../../lib/money.ts";
import { DependencyError } from "../dependency-error.ts";
import { type BudgetLeases, type Hold, NO_HOLD } from "./budget-leases.ts";
import type { BudgetRefusal } from "./exhaustion-cache.ts";
import type { Journal } from "./stores.ts";
import type { Target } from "../../domain/channel.ts";
import { charge, type ChargedAmount, type Price } from "../../domain/price.ts";
import type { Usage } from "../../domain/usage.ts";
import type { RequestContext } from "../request-context.ts";

/**
 * Handles the money of requests: holds money before a vendor is called, records the charge for what was delivered, and
 * releases the rest. When `settle` returns, the charge is in the journal, or in memory if the disk refuses it. The
 * caller gets its last byte only after that.
 */
export class Billing {
  readonly #leases: BudgetLeases;
  readonly #journal: Journal;

  constructor(leases: BudgetLeases, journal: Journal) {
    this.#leases = leases;
    this.#journal = journal;
  }

  /**
   * Holds the maximum cost of a request. When the budgets cover less than this cost but at least `floor`, holds the
   * covered part. Throws `BILLING_BLOCKED` when a budget has less than `floor` left. Throws `dependency_unavailable`
   * when the budget's state is unknown or no charge could be recorded now.
   */
  hold(principal: Principal, ceiling: () => Nanos, floor: () => Nanos = ceiling): Hold | Promise<Hold> {
    if (!this.#journal.isWritable()) throw unavailable(this.#journal.refusal());
    const budgets = budgetsOf(principal);
    if (budgets.length === 0) return NO_HOLD;
    const hold = this.#leases.hold(budgets, ceiling(), floor());
    if (hold instanceof Promise) return hold.then(required, failed);
    return required(hold);
  }

  /**
   * Records a charge in the journal, then releases the rest of its hold. Throws `dependency_unavailable` when the
   * charge cannot be recorded. After such an error the hold must still be released.
   */
  settle(hold: Hold, entry: LedgerEntry): void {
    try {
      this.#journal.append({ type: "charge", entry });
    } catch (cause) {
      throw unavailable(cause);
    }
    this.#leases.settle(hold, entry.amount);
  }

  /** Records the cost of a stream so far, in case this process dies. */
  checkpoint(entry: LedgerEntry): void {
    try {
      this.#journal.append({ type: "checkpoint", entry });
    } catch {
      // A refused checkpoint does not end the stream, because the charge at the end covers the whole stream.
    }
  }

  /** Releases the whole hold when nothing was delivered. */
  release(hold: Hold): void {
    this.#leases.settle(hold, 0n);
  }
}

/** Returns the ids of all budgets that limit a request. */
export function budgetsOf({ key, organization }: Principal): readonly string[] {
  return key.budgets.length === 0 ? organization.budgets : [...organization.budgets, ...key.budgets];
}

function required(hold: Hold | BudgetRefusal): Hold {
  if (hold === "spent" || hold === "held") throw refusedHold(hold);
  return hold;
}

/** Returns the error to throw when a budget refused a hold. */
export function refusedHold(refusal: BudgetRefusal): GatewayError {
  if (refusal === "spent") {
    const message =
      "The balance or budget is exhausted, or less is left than this request may cost. Raise it, or ask for fewer tokens or pictures.";
    return new GatewayError("BILLING_BLOCKED", message, { shouldRetry: false });
  }
  const message = "Running requests hold what is left of the balance or budget. Retry when they have ended.";
  return new GatewayError("BILLING_BLOCKED", message, { retryAfterSeconds: HELD_RETRY_SECONDS });
}

/** Seconds until a retry. Running requests may end and free their holds at any moment. */
const HELD_RETRY_SECONDS = 1;

function failed(error: unknown): never {
  throw error instanceof DependencyError ? unavailable(error) : error;
}

function unavailable(cause: unknown): GatewayError {
  const message = "The request cannot be accounted for just now. Retry shortly.";
  return new GatewayError("dependency_unavailable", message, { retryAfterSeconds: 2, cause });
}

const HOUR_MS = 60 * 60_000;
const RETRY_SECONDS = 60;

/**
 * Sums the orphan cost of each key for an hour and compares the sum with a cap. This slows down clients that disconnect
 * repeatedly. Each process has its own sums; the ledger has the exact sums.
 */
export class OrphanCosts {
  readonly #cap: Nanos | null;
  readonly #clock: Clock;
  #costs = new Map<string, Nanos>();
  #hourEndsAt = 0;

  /** With a cap of null no key is refused. */
  constructor(cap: Nanos | null, clock: Clock) {
    this.#cap = cap;
    this.#clock = clock;
  }

  /** Throws `rate_limit_exceeded` when the orphan cost of the key has reached the cap. */
  require(keyId: string): void {
    if (this.#cap === null || (this.#current().get(keyId) ?? 0n) < this.#cap) return;
    const message = "Too many requests of this key were abandoned after their model was called. Retry later.";
    throw new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds: RETRY_SECONDS });
  }

  add(keyId: string, cost: Nanos): void {
    if (this.#cap === null || cost === 0n) return;
    const costs = this.#current();
    costs.set(keyId, (costs.get(keyId) ?? 0n) + cost);
  }

  #current(): Map<string, Nanos> {
    const now = this.#clock.monotonic();
    if (now >= this.#hourEndsAt) {
      this.#costs = new Map();
      this.#hourEndsAt = now + HOUR_MS;
    }
    return this.#costs;
  }
}

export interface ChargeFacts {
  context: RequestContext;
  model: string;
  price: Price;
  hold: Hold;
  target: Target;
  usage: Usage;
  /** The requested usage; present when it may be more than the delivered usage. */
  requested?: Usage | undefined;
  /** Usage of replies that the vendor charges for but that nobody received. */
  abandoned?: readonly Usage[];
  /** Unix milliseconds at which the price was taken. */
  admittedAt: number;
  flags: readonly LedgerFlag[];
  /** Unix milliseconds. */
  at: number;
}

/**
 * Returns the ledger entry for the usage of a request. Throws when the price does not cover the usage, so that no usage
 * is free by mistake. Also throws when the amount is too large for the ledger: the database would refuse the entry, so
 * no budget would count it.
 */
export function chargeEntry({
  context,
  model,
  price,
  hold,
  target,
  usage,
  requested = usage,
  abandoned = [],
  admittedAt,
  flags,
  at,
}: ChargeFacts): LedgerEntry {
  const { amount, source } = requireCharge(price, usage);
  const { vendorCost } = usage;
  const consumed = vendorCost ? withoutVendorCost(usage) : usage;
  const allFlags = [...flags];
  if (usage.unit === "token" && usage.source === "estimated") allFlags.push("estimated");
  if (usage.unit === "token" && usage.anomalous) allFlags.push("anomalous");
  if (hold.leases.length > 0 && amount > hold.amount) allFlags.push("over_hold");
  const { principal, attempts } = context;
  let ambiguous = 0;
  for (const { isAmbiguous } of attempts) if (isAmbiguous) ambiguous += 1;
  const entry: LedgerEntry = {
    id: context.id,
    kind: "charge",
    requestId: context.requestId,
    organizationId: principal.organization.id,
    keyId: principal.key.id,
    model,
    channel: target.channel.id,
    upstreamModel: target.upstreamModel,
    at,
    admittedAt,
    usage: consumed,
    amount,
    currency: price.currency,
    priceSource: source,
    // Each abandoned reply is priced separately, because one long request may cost more than several short requests
    // with the same total number of tokens.
    orphanCost: abandoned.reduce(
      (sum, each) => sum + costOf(price, each, 1),
      costOf(price, requested, ambiguous),
    ),
    budgets: hold.leases.length === 0 ? NO_BUDGETS : hold.leases.map(({ budget }) => budget),
    attempts,
    flags: allFlags,
  };
  // Assigning optional members costs each request less time than spreading them.
  if (context.source !== null) entry.source = context.source;
  if (context.client !== null) entry.client = context.client;
  if (vendorCost) entry.vendorCost = vendorCost;
  return entry;
}

const NO_BUDGETS: string[] = [];

function withoutVendorCost(usage: Usage): Usage {
  const consumed = { ...usage };
  delete consumed.vendorCost;
  return consumed;
}

function costOf(price: Price, usage: Usage, times: number): Nanos {
  return times > 0 ? requireCharge(price, usage).amount * BigInt(times) : 0n;
}

function requireCharge(price: Price, usage: Usage): ChargedAmount {
  const found = charge(price, usage);
  if (found && found.amount > MAX_CHARGE) throw new RangeError("the charge is too large for the ledger");
  if (found) return found;
  const cell = usage.unit === "image" ? `${usage.tier}:${usage.quality}` : "tokens";
  throw new Error(`the price by ${price.unit} has no rate for ${cell}`);
}
