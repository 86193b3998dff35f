import type { ModelSet } from "../../domain/model.ts";
import { includesKey, isPattern } from "../../lib/pattern-map.ts";
import type { EnabledModels, OrganizationRecord } from "./schema.ts";

/** Returns true when an organization may call a model. */
export function isEnabled(models: EnabledModels, id: string): boolean {
  const set = modelSet(models);
  return set === "*" || set.has(id);
}

/** True for a model that the organization may call, and for a pattern with such models. */
export function mayCallModel({ models }: Pick<OrganizationRecord, "models">, model: string): boolean {
  return isPattern(model) || isEnabled(models, model);
}

/** The models of a stored list, in which patterns name every model with their beginning. */
export function modelSet(models: EnabledModels): ModelSet {
  if (models === "*") return "*";
  const named = new Set(Array.isArray(models) ? models : models.except);
  const isNamed = (id: string): boolean => includesKey(named, id);
  return { has: Array.isArray(models) ? isNamed : (id) => !isNamed(id) };
}
