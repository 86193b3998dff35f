import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { send } from "./api.ts";
import { reading, useReading } from "./queries.ts";

/** Something that can be chosen from a list. */
export interface Option {
  id: string;
  label: string;
  /** Shown after the label, muted. */
  detail?: string;
}

const NONE: readonly Option[] = [];
const STALE_MS = 60_000;

/** Organizations that the member may see. */
export function useOrganizationOptions(): readonly Option[] {
  const { data } = useQuery({ ...reading("organizations.list", {}), staleTime: STALE_MS });
  return useMemo(() => data?.data.map(({ id, name }) => ({ id, label: name })) ?? NONE, [data]);
}

/** Models of the installation. */
export function useModelOptions(): readonly Option[] {
  return useListed("models", ({ id, displayName, type }) => ({
    id: String(id),
    label: String(displayName ?? id),
    detail: String(type ?? ""),
  }));
}

/** Channels of the installation. */
export function useChannelOptions(): readonly Option[] {
  return useListed("channels", ({ id, provider }) => ({
    id: String(id),
    label: String(id),
    detail: String(provider ?? ""),
  }));
}

/** Keys, of one organization or of all. */
export function useKeyOptions(organizationId?: string): readonly Option[] {
  const keys = useReading("keys.list", organizationId === undefined ? {} : { organizationId });
  return (keys.data?.data ?? []).map(({ id, name, prefix }) => ({ id, label: name, detail: `${prefix}…` }));
}

function useListed(kind: string, toOption: (item: Record<string, unknown>) => Option): readonly Option[] {
  const list = useQuery({
    queryKey: [`${kind}.list`, "options"],
    queryFn: ({ signal }) =>
      send("GET", `/${kind}`, undefined, signal) as Promise<{ data: Record<string, unknown>[] }>,
    staleTime: STALE_MS,
  });
  return list.data?.data.map(toOption) ?? NONE;
}
