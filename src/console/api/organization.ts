import { useFilters } from "../address.ts";
import { useOrganizationOptions } from "./options.ts";
import { useSession } from "./session.ts";

/**
 * Returns the current organization: the organization in the address, or else the only organization that the member may
 * see. `id` is null when there is neither. `chosen` is null when the address has no organization. `choose` puts an
 * organization into the address of every page.
 */
export function useOrganization(): {
  id: string | null;
  chosen: string | null;
  choose(id: string | null): void;
} {
  const { filters, change } = useFilters();
  const { organizations } = useSession();
  const options = useOrganizationOptions();
  const only =
    organizations !== "*" && organizations.length === 1
      ? organizations[0]
      : options.length === 1
        ? options[0]?.id
        : undefined;
  return {
    id: filters["organization"] ?? only ?? null,
    chosen: filters["organization"] ?? null,
    choose: (id) => change({ organization: id ?? undefined }),
  };
}
