import type { ListPage, ListPosition, OrganizationFilter } from "../../admin/list-page.ts";
import { padded } from "../database/expressions.ts";
import type { Sql } from "../database/sql.ts";

/** Returns the end of a SELECT for a page of a list, oldest first. The SELECT must have a WHERE already. */
export function pageOf(sql: Sql, { after, limit }: ListPage) {
  return sql`${after === undefined ? sql`` : sql`AND (created_at, id) > (${after.at}, ${after.id})`}
    ORDER BY created_at, id LIMIT ${limit}`;
}

/** Returns the end of a SELECT for a page of a list, newest first. The SELECT must have a WHERE already. */
export function pageBelow(sql: Sql, { below, limit }: { below?: ListPosition; limit: number }) {
  return sql`${below === undefined ? sql`` : sql`AND (created_at, id) < (${below.at}, ${below.id})`}
    ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

/** Returns a pattern for `LIKE … ESCAPE '!'` that matches texts containing `text`, both in lower case. */
export function partOf(text: string): string {
  return `%${text.toLowerCase().replace(/[%_!]/g, "!$&")}%`;
}

/**
 * Returns a condition on the column `organization_id`. The statement before the condition must have a WHERE. Null
 * selects the rows of the installation, whose column is empty.
 */
export function ofOrganizations(
  sql: Sql,
  {
    organizationId,
    organizationIds,
  }: Omit<OrganizationFilter, "organizationId"> & { organizationId?: string | null },
) {
  return sql`${organizationId === undefined ? sql`` : sql`AND organization_id = ${organizationId ?? ""}`}
    ${organizationIds === undefined ? sql`` : sql`AND organization_id IN ${sql(padded(organizationIds))}`}`;
}
