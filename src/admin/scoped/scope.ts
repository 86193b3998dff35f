import { operatorMessage } from "../../domain/operator-message.ts";
import { AdminError } from "../admin-error.ts";
import type { Role } from "../roles.ts";

/** The member for whom a scoped store is made, and the organizations that the store shows. */
export interface OrganizationScope {
  organizations: readonly string[];
  role: Role;
  memberId: string;
}

export function isWithin({ organizations }: OrganizationScope, id: string | null | undefined): boolean {
  return id !== null && id !== undefined && organizations.includes(id);
}

/** Throws 404 for an organization outside of the scope, as for an unknown organization. Throws 403 for null. */
export function requireOwn(scope: OrganizationScope, id: string | null): void {
  if (id === null) refuseShared();
  if (!isWithin(scope, id))
    throw new AdminError(
      404,
      "organizationId",
      operatorMessage("error.missing", { noun: "organization", id }),
    );
}

/** Throws 403, because the call concerns all organizations. */
function refuseShared(): never {
  throw new AdminError(403, null, operatorMessage("error.reach", {}));
}

/** A method of a store that always refuses, as `refuseShared` does. */
export const refused = async (): Promise<never> => refuseShared();

/** Returns the record if it belongs to the member's organizations, otherwise null. */
export function ownOrNull<Record extends { organizationId: string | null }>(
  scope: OrganizationScope,
  record: Record | null,
): Record | null {
  return record && isWithin(scope, record.organizationId) ? record : null;
}

/** Returns a list of one organization, or of all organizations of the member, oldest first. */
export async function listOwn<Record extends { createdAt: number }>(
  scope: OrganizationScope,
  organizationId: string | undefined,
  list: (organizationId: string) => Promise<Record[]>,
): Promise<Record[]> {
  if (organizationId !== undefined) return isWithin(scope, organizationId) ? await list(organizationId) : [];
  const lists = await Promise.all(scope.organizations.map(list));
  return lists.flat().toSorted((one, other) => one.createdAt - other.createdAt);
}

/**
 * Returns a list function that shows only the member's organizations. Its result is empty when the filter selects
 * another organization.
 */
export function filteredOwn<Filter extends { organizationId?: string | null }, Item>(
  scope: OrganizationScope,
  list: (filter: Filter & { organizationIds?: readonly string[] }) => Promise<Item[]>,
): (filter: Filter) => Promise<Item[]> {
  return async (filter) => {
    if (filter.organizationId === undefined)
      return await list({ ...filter, organizationIds: scope.organizations });
    return isWithin(scope, filter.organizationId) ? await list(filter) : [];
  };
}
