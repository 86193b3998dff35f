import type { PatternMap } from "../../lib/pattern-map.ts";
import type { Channel, Route } from "../../domain/channel.ts";
import type { Model } from "../../domain/model.ts";
import type { Organization } from "../../domain/organization.ts";
import type { PriceRow } from "../../domain/price.ts";
import { modelSet } from "../../admin/organizations/enabled-models.ts";
import type { OrganizationRecord } from "../../admin/organizations/schema.ts";
import { priceIndex } from "../../admin/prices/price-index.ts";
import type { PriceRecord } from "../../admin/prices/store-port.ts";
import { resolveRoute } from "../../admin/routes/routes.ts";
import type { Directory } from "../../gateway/snapshot.ts";

/** The part of the directory that the configuration defines. */
export interface ConfiguredTables {
  models: PatternMap<Model>;
  channels: ReadonlyMap<string, Channel>;
  /** Default route of each model. */
  routes: PatternMap<Route>;
  /** Default prices by model. */
  prices: PatternMap<PriceRow>;
}

/** The part of the directory that is stored in the database. */
export interface Stored {
  organizations: readonly OrganizationRecord[];
  prices: readonly PriceRecord[];
  budgets: readonly BudgetScope[];
}

/** The organization, or the single key, that a budget applies to. */
export interface BudgetScope {
  id: string;
  organizationId: string;
  keyId: string | null;
}

/** Joins the configured and the stored part. Leaves out routes to unknown channels and reports them to `onProblem`. */
export function buildDirectory(
  configured: ConfiguredTables,
  stored: Stored,
  onProblem: (message: string) => void,
): Directory {
  const budgets = Map.groupBy(
    stored.budgets.filter((budget) => budget.keyId === null),
    (budget) => budget.organizationId,
  );
  const organizations = stored.organizations.map((record): [string, Organization] => [
    record.id,
    {
      id: record.id,
      name: record.name,
      currency: record.currency,
      isDisabled: record.isDisabled,
      models: modelSet(record.models),
      settings: record.settings,
      limits: record.limits,
      routes: ownRoutes(record, configured.channels, onProblem),
      budgets: budgets.get(record.id)?.map((budget) => budget.id) ?? [],
    },
  ]);
  return Object.freeze({
    organizations: new Map(organizations),
    models: configured.models,
    routes: configured.routes,
    channels: configured.channels,
    price: priceIndex(stored.prices, configured.prices),
  });
}

/** Returns the ids of the budgets of each key. Budgets of organizations are left out. */
export function budgetsByKey(budgets: readonly BudgetScope[]): Map<string, string[]> {
  const byKey = new Map<string, string[]>();
  for (const { id, keyId } of budgets) {
    if (keyId !== null) byKey.set(keyId, [...(byKey.get(keyId) ?? []), id]);
  }
  return byKey;
}

function ownRoutes(
  organization: OrganizationRecord,
  channels: ReadonlyMap<string, Channel>,
  onProblem: (message: string) => void,
): Map<string, Route> {
  const routes = new Map<string, Route>();
  for (const [model, record] of Object.entries(organization.routes)) {
    const route = resolveRoute(record, channels);
    if (typeof route === "string") {
      onProblem(
        `the route of ${organization.id} for ${model} names the unknown channel ${route}; it is left out`,
      );
    } else routes.set(model, route);
  }
  return routes;
}
