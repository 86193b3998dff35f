import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { useOrganization } from "../../api/organization.ts";
import { operationQuery } from "../../api/queries.ts";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import { Status, type StatusLevel } from "../../ui/text/status.tsx";

export type ModelRow = Output<"models.list">["data"][number];
export type ModelSelection = Output<"organizations.get">["models"];

type ModelState = "callable" | "disabled" | "retired" | "no_channel" | "no_price" | "not_enabled";

const LEVELS: Readonly<Record<ModelState, StatusLevel>> = {
  callable: "good",
  disabled: "off",
  retired: "off",
  no_channel: "off",
  no_price: "warn",
  not_enabled: "off",
};

/**
 * Returns null while the enabled models are unknown, and "callable" for a model that an organization with these enabled
 * models can call now. Otherwise returns the first reason that prevents the call.
 */
export function stateOf(
  { id, isRetired, isDisabled, isRoutable, price }: ModelRow,
  enabled: ModelSelection | null,
): ModelState | null {
  if (enabled === null) return null;
  if (isRetired) return "retired";
  if (isDisabled) return "disabled";
  if (!isEnabled(enabled, id)) return "not_enabled";
  if (!isRoutable) return "no_channel";
  return price === null ? "no_price" : "callable";
}

/** True when a model is among an organization's enabled models. */
export function isEnabled(models: ModelSelection, id: string): boolean {
  if (models === "*") return true;
  return Array.isArray(models) ? models.includes(id) : !models.except.includes(id);
}

/** Returns an organization's enabled models with one model added or removed. */
export function withModel(models: ModelSelection, id: string, isWanted: boolean): ModelSelection {
  if (Array.isArray(models))
    return isWanted ? [...new Set([...models, id])] : models.filter((each) => each !== id);
  const except = models === "*" ? [] : models.except.filter((each) => each !== id);
  if (!isWanted) return { except: [...except, id] };
  return except.length === 0 ? "*" : { except };
}

export function ModelStatus({ state }: { state: ModelState | null }) {
  const { t } = useTranslation("models");
  if (state === null) return <Skeleton className="h-5 w-20" />;
  return <Status level={LEVELS[state]}>{t(`state.${state}`)}</Status>;
}

/** Returns the enabled models of the current organization; `"*"` without one. Null until they are read. */
export function useEnabledModels(): ModelSelection | null {
  const { id } = useOrganization();
  const query = useQuery({ ...operationQuery("organizations.get", { id: id ?? "" }), enabled: id !== null });
  return id === null ? "*" : (query.data?.models ?? null);
}
