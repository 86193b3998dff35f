import type { ModelSet } from "../../domain/model.ts";
import { includesKey, isPattern } from "../../lib/pattern-map.ts";
import type { EnabledModels, OrganizationRecord } from "./schema.ts";

/** True when an organization with these models may call the model. */
export function isEnabled(models: EnabledModels, id: string): boolean {
  const set = modelSet(models);
  return set === "*" || set.has(id);
}

/** True for a model that the organization may call, and for every pattern. */
export function mayCallModel({ models }: Pick<OrganizationRecord, "models">, model: string): boolean {
  return isPattern(model) || isEnabled(models, model);
}

/**
 * Returns the set of models that a stored list describes. A pattern in the list covers every model whose id begins with
 * the text before the pattern's `*`.
 */
export function modelSet(models: EnabledModels): ModelSet {
  if (models === "*") return "*";
  const named = new Set(Array.isArray(models) ? models : models.except);
  const isNamed = (id: string): boolean => includesKey(named, id);
  return { has: Array.isArray(models) ? isNamed : (id) => !isNamed(id) };
}
