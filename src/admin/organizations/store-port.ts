import type { Actor } from "../actor.ts";
import type { OrganizationRecord } from "./schema.ts";
import type { ListPage } from "../list-page.ts";
export interface OrganizationStore {
  create(organization: Omit<OrganizationRecord, "version">, by: Actor): Promise<OrganizationRecord>;
  get(id: string): Promise<OrganizationRecord | null>;
  list(): Promise<OrganizationRecord[]>;
  /** Oldest first; `search` is a part of the id or the name. */
  page(
    page: ListPage & { search?: string; organizationIds?: readonly string[] },
  ): Promise<OrganizationRecord[]>;
  /**
   * Writes the organization that `change` returns for the present one, so that no two changes undo each other; when it
   * throws, nothing is changed. Returns the organization afterwards, null when there is none.
   */
  update(
    id: string,
    change: (before: OrganizationRecord) => Partial<Omit<OrganizationRecord, "id" | "createdAt" | "version">>,
    by: Actor,
  ): Promise<OrganizationRecord | null>;
}
