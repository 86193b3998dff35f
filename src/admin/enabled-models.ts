import type { EnabledModels } from "./ports.ts";

/** Whether an organization may call a model. */
export function isEnabled(models: EnabledModels, id: string): boolean {
  if (models === "*") return true;
  return Array.isArray(models) ? models.includes(id) : !models.except.includes(id);
}

/** The models an organization may call of those that are configured now; `"*"` is all. */
export function resolveModels(
  models: EnabledModels,
  configured: ReadonlyMap<string, unknown>,
): ReadonlySet<string> | "*" {
  return models === "*" ? "*" : new Set(configured.keys().filter((id) => isEnabled(models, id)));
}
