import { AdminError } from "../admin-error.ts";
import type { Role } from "../roles.ts";

/** Organizations that a scoped store shows. */
export interface OrganizationScope {
  organizations: readonly string[];
  role: Role;
  memberId: string;
}

export function isWithin({ organizations }: OrganizationScope, id: string | null | undefined): boolean {
  return id !== null && id !== undefined && organizations.includes(id);
}

/** Throws 404, as for an organization that is not there. */
export function requireOwn(scope: OrganizationScope, id: string | null): void {
  if (id === null) refuseShared();
  if (!isWithin(scope, id)) throw new AdminError(404, "organizationId", `there is no organization "${id}"`);
}

/** For what concerns all organizations. */
function refuseShared(): never {
  throw new AdminError(403, null, "this needs a member of all organizations");
}

/** `refuseShared` as a method of a store. */
export const refused = async (): Promise<never> => refuseShared();

/** The record if it is of the member's organizations. */
export function ownOrNull<Record extends { organizationId: string | null }>(
  scope: OrganizationScope,
  record: Record | null,
): Record | null {
  return record && isWithin(scope, record.organizationId) ? record : null;
}

/** A list of one organization, or of all that the member belongs to, oldest first. */
export async function listOwn<Record extends { createdAt: number }>(
  scope: OrganizationScope,
  organizationId: string | undefined,
  list: (organizationId: string) => Promise<Record[]>,
): Promise<Record[]> {
  if (organizationId !== undefined) return isWithin(scope, organizationId) ? await list(organizationId) : [];
  const lists = await Promise.all(scope.organizations.map(list));
  return lists.flat().toSorted((one, other) => one.createdAt - other.createdAt);
}

/** A list whose filter is narrowed to the member's organizations; empty where it names another. */
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
