import { useQuery } from "@tanstack/react-query";
import { reading } from "../../api/queries.ts";
import type { JobRow } from "./states.ts";

/** The request behind a job that has ended, with its vendor calls and cost; a job's id is that of its ledger entry. */
export function useJobRequest({ id, endedAt }: Pick<JobRow, "id" | "endedAt">) {
  return useQuery({ ...reading("requests.get", { id }), enabled: endedAt !== null });
}
