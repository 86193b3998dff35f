import type { Target } from "../../domain/channel.ts";
import type { LedgerEntry, LedgerFlag } from "../../domain/ledger.ts";
import type { ImageModel, Model, TextModel } from "../../domain/model.ts";
import type { ImagePrice, Price, TokenPrice } from "../../domain/price.ts";
import { sumTokens, type Usage } from "../../domain/usage.ts";
import type { Nanos } from "../../lib/money.ts";
import type { Core } from "../core.ts";
import type { Hold } from "../metering/budget-leases.ts";
import { chargeEntry } from "../metering/entry.ts";
import type { RequestContext } from "../request-context.ts";
import type { DetachableSignal } from "../routing/detached-calls.ts";
import type { LimitGrant } from "./limit-grant.ts";

/** What a request is admitted by, once its model and price are known. */
interface AdmissionTerms<OfModel extends Model, OfPrice extends Price> {
  model: OfModel;
  price: OfPrice;
  /** Unix milliseconds at which the price was taken. */
  admittedAt: number;
  /** The most that it may cost; read only where a budget limits it. */
  ceiling(): Nanos;
  /** The least it can be served for; the ceiling when absent. */
  floor?(): Nanos;
}

/** What is charged: the work of one target. */
export interface Charge {
  target: Target;
  usage: Usage;
  /** What was requested, where that may be more than was delivered. */
  requested?: Usage;
  /** What a vendor was paid for and nobody received. */
  abandoned?: Usage;
  flags: readonly LedgerFlag[];
}

/**
 * Holds the money of a request that the limits have granted. Throws a `GatewayError` that names what is missing. A
 * promise only where the store of budgets must be called.
 */
export function admit<OfModel extends Model, OfPrice extends Price>(
  core: Core,
  context: RequestContext,
  terms: AdmissionTerms<OfModel, OfPrice>,
): Admitted<OfModel, OfPrice> | Promise<Admitted<OfModel, OfPrice>> {
  try {
    core.orphanCosts.require(context.principal.key.id);
    const held = core.billing.hold(context.principal, terms.ceiling, terms.floor);
    if (!(held instanceof Promise)) return admitWith(core, context, terms, held);
    return held
      .then((hold) => admitWith(core, context, terms, hold))
      .catch((error: unknown) => refuse(context, error));
  } catch (error) {
    return refuse(context, error);
  }
}

function admitWith<OfModel extends Model, OfPrice extends Price>(
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
 * Permission for one request: its model and price, what it counts in the limits, the money held for it and the
 * signal its vendor calls obey. Its owner disposes of it, which gives everything back that was not settled.
 */
export class Admitted<OfModel extends Model, OfPrice extends Price> implements Disposable {
  readonly #parts: AdmittedParts<OfModel, OfPrice>;
  #isSettled = false;
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

  /** The state of the limits, for the rate headers. */
  get rate(): LimitGrant["rate"] {
    return this.#parts.context.grant.rate;
  }

  /** Aborted when the client disconnects, unless its organization wants answers read to their end. */
  get signal(): AbortSignal {
    return this.#parts.detachable.signal;
  }

  /**
   * Records the charge for good and frees what was held beyond it. Throws `dependency_unavailable` when it cannot
   * be recorded; the caller must then not learn of a success.
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

  /** Records what the request has cost so far, in case this process dies. */
  checkpoint(charge: Charge): void {
    this.#parts.core.billing.checkpoint(this.#entry(charge));
  }

  /** Passes everything on to a new owner; disposing of this one gives nothing back. */
  transfer(): Admitted<OfModel, OfPrice> {
    this.#isReleased = true;
    return new Admitted(this.#parts);
  }

  /** Gives back what was not settled, once. */
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

  #entry(charge: Charge): LedgerEntry {
    const { core, context, model, price, admittedAt, hold } = this.#parts;
    const at = core.clock.now();
    return chargeEntry({ ...charge, context, model: model.id, price, admittedAt, hold, at });
  }
}
