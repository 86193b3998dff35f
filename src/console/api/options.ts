import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Input, Output } from "./call.ts";
import { operationQuery, type ListName } from "./queries.ts";
import { useCan } from "./session.ts";

/** An option of a select or a similar list. */
export interface Option {
  id: string;
  label: string;
  /** Text after the label, in a lighter colour. */
  detail?: string;
}

const NONE: readonly Option[] = [];
const STALE_MS = 60_000;
/** Maximum number of options. It is the longest page that a list can have. */
const MAX_OPTIONS = 1_000;

const ORGANIZATIONS = { limit: MAX_OPTIONS };

/** Returns the organizations that the member may see. */
export function useOrganizationOptions(): readonly Option[] {
  return useOptions("organizations.list", ORGANIZATIONS, organizationOption);
}

/** Returns the currency of an organization that the member may see; undefined until the currency is read. */
export function useCurrency(organizationId: string | null): string | undefined {
  const { data } = useQuery({ ...operationQuery("organizations.list", ORGANIZATIONS), staleTime: STALE_MS });
  return data?.data.find(({ id }) => id === organizationId)?.currency;
}

/** Returns the models of the installation that a channel serves. */
export function useModelOptions(): readonly Option[] {
  return useOptions("models.list", { isRoutable: true, limit: MAX_OPTIONS }, modelOption);
}

/** Returns the installation's channels; for members who may not list them, the channels in the models' routes. */
export function useChannelOptions(): readonly Option[] {
  const canList = useCan()("viewer", "installation");
  const channels = useOptions("channels.list", {}, channelOption, canList);
  const models = {
    ...operationQuery("models.list", { isRoutable: true, limit: MAX_OPTIONS }),
    staleTime: STALE_MS,
  };
  const { data } = useQuery({ ...models, enabled: !canList });
  const named = useMemo(() => {
    const ids = data?.data.flatMap(({ route }) => route.targets.map(({ channel }) => channel));
    return [...new Set(ids)].map((id) => ({ id, label: id }));
  }, [data]);
  return canList ? channels : named;
}

/** Returns the keys of one organization, or of all organizations. */
export function useKeyOptions(organizationId?: string): readonly Option[] {
  return useOptions(
    "keys.list",
    { limit: MAX_OPTIONS, ...(organizationId && { organizationId }) },
    keyOption,
  );
}

/**
 * Returns keys for a list with a search field. If there are more than `MAX_OPTIONS`, the list also has the keys that
 * the gateway finds for the text last passed to `onSearch`.
 */
export function useKeySearch(organizationId?: string): {
  options: readonly Option[];
  onSearch(typed: string): void;
} {
  const [typed, setTyped] = useState("");
  const known = useKeyOptions(organizationId);
  const search = typed.trim();
  const input = { limit: MAX_FOUND, search, ...(organizationId && { organizationId }) };
  const found = useOptions("keys.list", input, keyOption, known.length >= MAX_OPTIONS && search !== "");
  const options = useMemo(
    () => [...new Map([...known, ...found].map((option) => [option.id, option])).values()],
    [known, found],
  );
  return { options, onSearch: setTyped };
}

const MAX_FOUND = 50;

const organizationOption = ({ id, name }: { id: string; name: string }): Option => ({ id, label: name });
const modelOption = (model: { id: string; displayName: string; type: string }): Option => ({
  id: model.id,
  label: model.displayName,
  detail: model.type,
});
const channelOption = ({ id, provider }: { id: string; provider: string }): Option => ({
  id,
  label: id,
  detail: provider,
});
const keyOption = ({ id, name, prefix }: { id: string; name: string; prefix: string }): Option => ({
  id,
  label: name,
  detail: `${prefix}…`,
});

function useOptions<Name extends ListName>(
  name: Name,
  input: Input<Name>,
  toOption: (item: Output<Name>["data"][number]) => Option,
  enabled = true,
): readonly Option[] {
  const { data } = useQuery({ ...operationQuery(name, input), staleTime: STALE_MS, enabled });
  return useMemo(() => data?.data.map(toOption) ?? NONE, [data, toOption]);
}
