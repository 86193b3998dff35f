import type { Target } from "../../domain/channel.ts";
import type { LedgerEntry, LedgerFlag } from "../../domain/ledger.ts";
import type { ImageModel, Model, TextModel } from "../../domain/model.ts";
import type { ImagePrice, Price, TokenPrice } from "../../domain/price.ts";
import { sumTokens, type TokenUsage, type Usage } from "../../domain/usage.ts";
import type { Nanos } from "../../lib/money.ts";
import type { Core } from "../core.ts";
import type { Hold } from "../metering/budget-leases.ts";
import { chargeEntry } from "../metering/billing.ts";
import type { RequestContext } from "../request-context.ts";
import type { DetachableSignal } from "../routing/call.ts";
import type { LimitGrant } from "./limit-grant.ts";

/** The terms of an admitted request, which are known after its model and price have been found. */
interface AdmissionTerms<OfModel extends Model, OfPrice extends Price> {
  model: OfModel;
  price: OfPrice;
  /** Unix milliseconds at which the price was taken. */
  admittedAt: number;
  /** Returns the maximum cost. `Billing` calls it only when a budget limits the request. */
  ceiling(): Nanos;
  /** Returns the smallest amount with which the request can be served; absent when only the ceiling is enough. */
  floor?(): Nanos;
}

/** The usage to charge for a request, and the target that did the work. */
export interface Charge {
  target: Target;
  usage: Usage;
  /** The requested usage; present when it may be more than the delivered usage. */
  requested?: Usage;
  /** Usage of replies that the vendor charges for but that nobody received. */
  abandoned?: readonly Usage[];
  flags: readonly LedgerFlag[];
}

/**
 * Reserves the money for a request that has passed the limits. Returns the admitted request. Throws a `GatewayError`
 * with the reason of a refusal. Returns a promise only when the store of budgets must be called.
 */
export function holdMoney<OfModel extends Model, OfPrice extends Price>(
  core: Core,
  context: RequestContext,
  terms: AdmissionTerms<OfModel, OfPrice>,
): Admitted<OfModel, OfPrice> | Promise<Admitted<OfModel, OfPrice>> {
  try {
    core.orphanCosts.require(context.principal.key.id);
    const held = core.billing.hold(context.principal, terms.ceiling, terms.floor);
    if (!(held instanceof Promise)) return admittedWith(core, context, terms, held);
    return held
      .then((hold) => admittedWith(core, context, terms, hold))
      .catch((error: unknown) => refuse(context, error));
  } catch (error) {
    return refuse(context, error);
  }
}

function admittedWith<OfModel extends Model, OfPrice extends Price>(
  core: Core,
  context: RequestContext,
  { model, price, admittedAt }: AdmissionTerms<OfModel, OfPrice>,
  hold: Hold,
): Admitted<OfModel, OfPrice> {
  const detachable = core.detachedCalls.signalFor(context.principal.organization, context.signal);
  return new Admitted({ core, context, model, price, admittedAt, hold, detachable });
}

function refuse({ grant }: RequestContext, error: unknown): never {
  grant.correctTokens(0);
  throw error;
}

export type AdmittedText = Admitted<TextModel, TokenPrice>;
export type AdmittedImages = Admitted<ImageModel, ImagePrice>;

interface AdmittedParts<OfModel, OfPrice> {
  core: Core;
  context: RequestContext;
  model: OfModel;
  price: OfPrice;
  admittedAt: number;
  hold: Hold;
  detachable: DetachableSignal;
}

/**
 * An admitted request: its model and price, the amounts counted in the limits, the money held for it, and the signal
 * that aborts its vendor calls. Its owner must dispose of it. Disposing releases the hold and the counted tokens,
 * unless the request was settled.
 */
export class Admitted<OfModel extends Model, OfPrice extends Price> implements Disposable {
  readonly #parts: AdmittedParts<OfModel, OfPrice>;
  #isSettled = false;
  readonly #abandoned: TokenUsage[] = [];
  #isReleased = false;

  constructor(parts: AdmittedParts<OfModel, OfPrice>) {
    this.#parts = parts;
  }

  get context(): RequestContext {
    return this.#parts.context;
  }

  get model(): OfModel {
    return this.#parts.model;
  }

  get price(): OfPrice {
    return this.#parts.price;
  }

  /** Unix milliseconds at which the price was taken. */
  get admittedAt(): number {
    return this.#parts.admittedAt;
  }

  get hold(): Hold {
    return this.#parts.hold;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** State of the limits, for the rate-limit headers. */
  get limitState(): LimitGrant["limitState"] {
    return this.#parts.context.grant.limitState;
  }

  /** Aborts when the client disconnects, except for a detached call (see `DetachedCalls`). */
  get signal(): AbortSignal {
    return this.#parts.detachable.signal;
  }

  /**
   * Records the charge in the journal and releases the rest of the hold. Throws `dependency_unavailable` when the
   * charge cannot be recorded. The caller must then not receive a success.
   */
  settle(charge: Charge): void {
    const { core, context, hold } = this.#parts;
    const entry = this.#entry(charge);
    core.billing.settle(hold, entry);
    this.#isSettled = true;
    context.facts.charge = entry;
    core.orphanCosts.add(entry.keyId, entry.orphanCost);
    if (charge.usage.unit === "token") context.grant.correctTokens(sumTokens(charge.usage.tokens));
  }

  /** Records a reply that nobody receives but the vendor charges for. Its price becomes orphan cost. */
  abandon({ tokens }: TokenUsage): void {
    this.#abandoned.push({ unit: "token", tokens, source: "estimated" });
  }

  /** Records the cost of the request so far, in case this process dies. */
  checkpoint(charge: Charge): void {
    this.#parts.core.billing.checkpoint(this.#entry(charge));
  }

  /** Returns a new `Admitted` that owns the grant and the hold. Disposing of this one then releases nothing. */
  transfer(): Admitted<OfModel, OfPrice> {
    this.#isReleased = true;
    return new Admitted(this.#parts);
  }

  /** Releases the hold and the counted tokens, unless the request was settled. Later calls do nothing. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    const { core, context, hold, detachable } = this.#parts;
    if (!this.#isSettled) {
      core.billing.release(hold);
      context.grant.correctTokens(0);
    }
    detachable.release();
  }

  [Symbol.dispose](): void {
    this.release();
  }

  #entry({ target, usage, requested, abandoned = this.#abandoned, flags }: Charge): LedgerEntry {
    const { core, context, model, price, admittedAt, hold } = this.#parts;
    const at = core.clock.now();
    return chargeEntry({
      target,
      usage,
      requested,
      abandoned,
      flags,
      context,
      model: model.id,
      price,
      admittedAt,
      hold,
      at,
    });
  }
}
