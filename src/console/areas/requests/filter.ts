import type { Input } from "../../api/call.ts";
import { useOrganization } from "../../api/organization.ts";
import { useSteadyRange } from "../../ui/filters/range.ts";
import { useFilters } from "../../address.ts";

/** The filters of the list beside organization and range, as they are named in the address. */
export const FILTERS = ["status", "model", "keyId", "channel", "code"] as const;

const CLASSES = ["2xx", "4xx", "5xx"] as const;

/** What the address asks the list for. */
export function useRequestFilter(): Input<"requests.list"> {
  const { filters } = useFilters();
  const { id } = useOrganization();
  const { status, model, keyId, channel, code } = filters;
  const statusClass = CLASSES.find((each) => each === status);
  return {
    ...(id !== null && { organizationId: id }),
    ...(statusClass && { statusClass }),
    ...(model && { model }),
    ...(keyId && { keyId }),
    ...(channel && { channel }),
    ...(code && { code }),
    ...useSteadyRange("24h"),
  };
}
