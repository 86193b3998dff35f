import { isDeepStrictEqual } from "node:util";
import type { Model } from "../../domain/model.ts";
import { operatorMessage, type OperatorMessage } from "../../domain/operator-message.ts";
import { imageRate, type Price } from "../../domain/price.ts";
import type { AdminContext } from "../context.ts";
import { isEnabled } from "../organizations/enabled-models.ts";
import { priceIndex, type Payer, type PriceIndex } from "./price-index.ts";
import type { OrganizationRecord } from "../organizations/schema.ts";
import type { PriceRecord } from "./store-port.ts";

/** Effect of a change of a model's price rows, at the time when the change takes effect. */
export interface PriceEffect {
  before: Price | null;
  after: Price | null;
  /** Organizations that may call the model and have no price for it after the change. */
  unpriced: string[];
  /** Organizations that may call the model and lose the price of a cell. */
  lost: { organization: string; cells: string[] }[];
  /** Organizations that may call the model and pay another price after the change. */
  concerned: { organization: string; before: Price | null; after: Price | null }[];
}

/** Resolves the prices of the model before and after the change, for every organization that the change concerns. */
export async function priceEffect(
  { store, catalogue }: AdminContext,
  { organizationId, currency, model: id }: PriceRecord,
  rows: { stored: readonly PriceRecord[]; changed: readonly PriceRecord[]; at: number },
): Promise<PriceEffect> {
  const model = catalogue.models.get(id);
  const unit = rows.changed.find((row) => row.model === id)?.price.unit ?? "token";
  const resolve = (index: PriceIndex, payer: Payer) => index(payer, id, unit, rows.at);
  const old = priceIndex(rows.stored, catalogue.prices);
  const changed = priceIndex(rows.changed, catalogue.prices);
  const effect: PriceEffect = { before: null, after: null, unpriced: [], lost: [], concerned: [] };
  const payer = { id: organizationId ?? "", currency };
  effect.before = resolve(old, payer);
  effect.after = resolve(changed, payer);
  if (!model || model.isRetired) return effect;
  for (const organization of await store.organizations.list()) {
    const isConcerned = organizationId === null || organization.id === organizationId;
    if (!isConcerned || organization.currency !== currency || !mayCall(organization, model)) continue;
    const after = resolve(changed, organization);
    if (!after) effect.unpriced.push(organization.id);
    const before = resolve(old, organization);
    if (!isDeepStrictEqual(before, after))
      effect.concerned.push({ organization: organization.id, before, after });
    const kept = pricedCells(model, after);
    const cells = [...pricedCells(model, before)].filter((cell) => !kept.has(cell));
    if (cells.length > 0) effect.lost.push({ organization: organization.id, cells });
  }
  return effect;
}

/** Returns the error message for a new row that would leave the model without a price. */
export function stillUnpriced({ model }: PriceRecord, { unpriced }: PriceEffect): OperatorMessage {
  return operatorMessage("price.stillUnpriced", { model, organizations: list(unpriced) });
}

/** Returns the error message for an end of a row that would leave cells without a price. */
export function loses({ model }: PriceRecord, { lost }: PriceEffect): OperatorMessage {
  const cells = list([...new Set(lost.flatMap((each) => each.cells))]);
  const organizations = list(lost.map(({ organization }) => organization));
  return operatorMessage("price.loses", { model, cells, organizations });
}

function mayCall({ isDisabled, models }: OrganizationRecord, { id }: Model): boolean {
  return !isDisabled && isEnabled(models, id);
}

/** Returns the names of the cells that have a price: `1K:high`, or `tokens` for a text model. */
function pricedCells(model: Model, price: Price | null): Set<string> {
  if (!price) return new Set();
  if (model.type !== "image" || price.unit !== "image") return new Set(["tokens"]);
  const { tiers, qualities } = model.image;
  const names = qualities.length > 0 ? qualities : ["auto"];
  const cells = tiers.flatMap((tier) => names.map((quality) => ({ tier, quality })));
  const priced = cells.filter(({ tier, quality }) => imageRate(price, tier, quality));
  return new Set(priced.map(({ tier, quality }) => `${tier}:${quality}`));
}

const MAX_NAMED = 5;

function list(names: readonly string[]): string {
  return names.slice(0, MAX_NAMED).join(", ") + (names.length > MAX_NAMED ? ", …" : "");
}
