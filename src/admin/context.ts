import type { Channel, Route } from "../domain/channel.ts";
import type { Model } from "../domain/model.ts";
import type { PriceRow } from "../domain/price.ts";
import type { Clock } from "../lib/clock.ts";
import { isPattern } from "../lib/pattern-map.ts";
import { didYouMean } from "../lib/suggest.ts";
import { AdminError } from "./admin-error.ts";
import type { Actor, AdminStore } from "./ports.ts";

/** What every administrative function works with: the store, who makes the change, and what is configured. */
export interface AdminContext {
  store: AdminStore;
  by: Actor;
  clock: Clock;
  catalogue: Catalogue;
}

/** The configured models, channels, default routes and prices; the settings have this shape. */
export interface Catalogue {
  models: ReadonlyMap<string, Model>;
  channels: ReadonlyMap<string, Channel>;
  routes: ReadonlyMap<string, Route>;
  prices: ReadonlyMap<string, PriceRow>;
}

/** A configured model, or a pattern that covers some; throws as `requireModel` does. */
export function requireModels(catalogue: Catalogue, id: string, field: string): void {
  const beginning = id.slice(0, -1);
  const overlaps = (known: string): boolean =>
    known.startsWith(beginning) || (isPattern(known) && beginning.startsWith(known.slice(0, -1)));
  if (!isPattern(id) || !catalogue.models.keys().some(overlaps)) requireModel(catalogue, id, field);
}

/** The configured model, or an error that suggests the one that was meant. */
export function requireModel(catalogue: Catalogue, id: string, field: string): Model {
  const model = catalogue.models.get(id);
  if (model) return model;
  const suggestion = didYouMean(id, catalogue.models.keys());
  throw new AdminError(400, field, `"${id}" is not a configured model${suggestion}`);
}
