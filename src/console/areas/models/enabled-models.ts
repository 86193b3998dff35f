import { useQuery } from "@tanstack/react-query";
import { useOrganization } from "../../api/organization.ts";
import { reading } from "../../api/queries.ts";
import type { ModelSet } from "./model-state.tsx";

/** The models of the organization that is looked at; all where none is. */
export function useEnabledModels(): ModelSet {
  const { id } = useOrganization();
  const query = useQuery({ ...reading("organizations.get", { id: id ?? "" }), enabled: id !== null });
  return (id === null ? undefined : query.data?.models) ?? "*";
}
