import type { ListPage, ListPosition, OrganizationFilter } from "../../admin/list-page.ts";
import { padded } from "../database/expressions.ts";
import type { Sql } from "../database/sql.ts";

/** The end of a SELECT for a page of a list, oldest first; the statement before it has a WHERE. */
export function pageOf(sql: Sql, { after, limit }: ListPage) {
  return sql`${after === undefined ? sql`` : sql`AND (created_at, id) > (${after.at}, ${after.id})`}
    ORDER BY created_at, id LIMIT ${limit}`;
}

/** The same, newest first. */
export function pageBelow(sql: Sql, { below, limit }: { below?: ListPosition; limit: number }) {
  return sql`${below === undefined ? sql`` : sql`AND (created_at, id) < (${below.at}, ${below.id})`}
    ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

/** A pattern for `LIKE … ESCAPE '!'` of texts that contain this one; compare in lower case. */
export function partOf(text: string): string {
  return `%${text.toLowerCase().replace(/[%_!]/g, "!$&")}%`;
}

/**
 * A condition for rows with an `organization_id`; the statement before it has a WHERE. Null is what belongs to the
 * installation, whose column is empty.
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
