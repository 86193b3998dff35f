import { DEFAULT_ORGANIZATION_SETTINGS } from "../../domain/organization.ts";
import { makeChange, withoutVersion } from "./change.ts";
import { definedFields, padded } from "../database/expressions.ts";
import { pageOf, partOf } from "./list-page.ts";
import type { Database, Sql } from "../database/sql.ts";
import type { OrganizationRecord } from "../../admin/organizations/schema.ts";
import type { OrganizationStore } from "../../admin/organizations/store-port.ts";
import { bit, integer, json, named, table, text, time, type Row } from "../database/table.ts";

type Settings = OrganizationRecord["settings"];

const organizations = table<OrganizationRecord>("organizations", {
  id: text(),
  name: text(),
  currency: text(),
  isDisabled: bit(),
  models: json(),
  // A row that was written before a setting existed gets the default of that setting.
  settings: json((written: Partial<Settings>) => ({ ...DEFAULT_ORGANIZATION_SETTINGS, ...written })),
  limits: json(),
  routes: json(),
  createdAt: time(),
  version: named("revision", integer()),
});

/** Organizations and their settings. Creating an organization with an existing id fails with the database's error. */
export function organizationStore(database: Database): OrganizationStore {
  return {
    async create(organization, by) {
      const change = { by, kind: "organization", action: "create", subject: organization.id } as const;
      let version = 0;
      await makeChange(database, change, async (sql, revision) => {
        version = Number(revision);
        await sql`INSERT INTO organizations ${sql(organizations.write({ ...organization, version }))}`;
        return { before: null, after: organization };
      });
      return { ...organization, version };
    },
    get: (id) => database.read((sql) => find(sql, id)),
    async list() {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM organizations ORDER BY created_at, id`,
      );
      return rows.map(organizations.read);
    },
    async page({ search, organizationIds, ...page }) {
      const pattern = search === undefined ? undefined : partOf(search);
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM organizations WHERE 1 = 1
          ${organizationIds === undefined ? sql`` : sql`AND id IN ${sql(padded(organizationIds))}`}
          ${
            pattern === undefined
              ? sql``
              : sql`AND (LOWER(id) LIKE ${pattern} ESCAPE '!' OR LOWER(name) LIKE ${pattern} ESCAPE '!')`
          }
          ${pageOf(sql, page)}`,
      );
      return rows.map(organizations.read);
    },
    async update(id, change, by) {
      let after: OrganizationRecord | null = null;
      const audited = { by, kind: "organization", action: "update", subject: id } as const;
      await makeChange(database, audited, async (sql, revision) => {
        const before = await find(sql, id);
        if (!before) return null;
        after = { ...before, ...definedFields(change(before)), version: Number(revision) };
        await sql`UPDATE organizations SET ${sql(organizations.write(after))} WHERE id = ${id}`;
        return { before: withoutVersion(before), after: withoutVersion(after) };
      });
      return after;
    },
  };
}

async function find(sql: Sql, id: string): Promise<OrganizationRecord | null> {
  return organizations.first(await sql<Row[]>`SELECT * FROM organizations WHERE id = ${id}`);
}
