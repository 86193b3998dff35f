/** A position in a list that is ordered by the time of creation and then by id. */
export interface ListPosition {
  /** Unix milliseconds. */
  at: number;
  id: string;
}

/** A page of a list: the items after a position, or the first items. */
export interface ListPage {
  after?: ListPosition;
  limit: number;
}

/** Filter of rows by organization; an absent field matches every row. */
export interface OrganizationFilter {
  organizationId?: string;
  organizationIds?: readonly string[];
}
