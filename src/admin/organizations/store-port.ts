import type { Actor } from "../actor.ts";
import type { OrganizationRecord } from "./schema.ts";
import type { ListPage } from "../list-page.ts";
export interface OrganizationStore {
  create(organization: Omit<OrganizationRecord, "version">, by: Actor): Promise<OrganizationRecord>;
  get(id: string): Promise<OrganizationRecord | null>;
  list(): Promise<OrganizationRecord[]>;
  /** Returns a page of organizations, oldest first. `search` is a part of the id or the name. */
  page(
    page: ListPage & { search?: string; organizationIds?: readonly string[] },
  ): Promise<OrganizationRecord[]>;
  /**
   * Replaces the fields of an organization that `change` returns for its current state, so that no two changes undo
   * each other. When `change` throws, nothing is changed. Returns the changed organization; null for an unknown id.
   */
  update(
    id: string,
    change: (before: OrganizationRecord) => Partial<Omit<OrganizationRecord, "id" | "createdAt" | "version">>,
    by: Actor,
  ): Promise<OrganizationRecord | null>;
}
