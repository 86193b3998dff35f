import type { OrganizationRecord, OrganizationStore } from "../../admin/ports.ts";
import { DEFAULT_ORGANIZATION_SETTINGS } from "../../domain/organization.ts";
import { makeChange, withoutVersion } from "./change.ts";
import { padded } from "../budgets/locked-budgets.ts";
import { pageOf, partOf } from "./list-page.ts";
import { definedFields, firstOf, toBit, toColumn, type Integer } from "../database/columns.ts";
import type { Database, Sql } from "../database/sql.ts";

/** Organizations and their own rules. Creating one whose id exists fails with the database's own error. */
export function organizationStore(database: Database): OrganizationStore {
  return {
    async create(organization, by) {
      const change = { by, kind: "organization", action: "create", subject: organization.id } as const;
      let version = 0;
      await makeChange(database, change, async (sql, revision) => {
        await sql`INSERT INTO organizations ${sql(writeRow(organization, revision))}`;
        version = Number(revision);
        return { before: null, after: organization };
      });
      return { ...organization, version };
    },
    get: (id) => database.read((sql) => find(sql, id)),
    async list() {
      const rows = await database.read(
        (sql) => sql<OrganizationRow[]>`SELECT * FROM organizations ORDER BY created_at, id`,
      );
      return rows.map(readRow);
    },
    async page({ search, organizationIds, ...page }) {
      const pattern = search === undefined ? undefined : partOf(search);
      const rows = await database.read(
        (sql) => sql<OrganizationRow[]>`SELECT * FROM organizations WHERE 1 = 1
          ${organizationIds === undefined ? sql`` : sql`AND id IN ${sql(padded(organizationIds))}`}
          ${
            pattern === undefined
              ? sql``
              : sql`AND (LOWER(id) LIKE ${pattern} ESCAPE '!' OR LOWER(name) LIKE ${pattern} ESCAPE '!')`
          }
          ${pageOf(sql, page)}`,
      );
      return rows.map(readRow);
    },
    async update(id, change, by) {
      let after: OrganizationRecord | null = null;
      const audited = { by, kind: "organization", action: "update", subject: id } as const;
      await makeChange(database, audited, async (sql, revision) => {
        const before = await find(sql, id);
        if (!before) return null;
        after = { ...before, ...definedFields(change(before)), version: Number(revision) };
        await sql`UPDATE organizations SET ${sql(writeRow(after, revision))} WHERE id = ${id}`;
        return { before: withoutVersion(before), after: withoutVersion(after) };
      });
      return after;
    },
  };
}

interface OrganizationRow {
  id: string;
  name: string;
  currency: string;
  is_disabled: Integer;
  models: string;
  settings: string;
  limits: string;
  routes: string;
  created_at: Integer;
  revision: Integer;
}

async function find(sql: Sql, id: string): Promise<OrganizationRecord | null> {
  const row = firstOf(await sql<OrganizationRow[]>`SELECT * FROM organizations WHERE id = ${id}`);
  return row && readRow(row);
}

function readRow(row: OrganizationRow): OrganizationRecord {
  return {
    id: row.id,
    name: row.name,
    currency: row.currency,
    isDisabled: Number(row.is_disabled) === 1,
    models: JSON.parse(row.models),
    // A row written before a setting existed has that setting's default.
    settings: { ...DEFAULT_ORGANIZATION_SETTINGS, ...JSON.parse(row.settings) },
    limits: JSON.parse(row.limits),
    routes: JSON.parse(row.routes),
    createdAt: Number(row.created_at),
    version: Number(row.revision),
  };
}

function writeRow(organization: Omit<OrganizationRecord, "version">, revision: bigint) {
  return {
    id: organization.id,
    name: organization.name,
    currency: organization.currency,
    is_disabled: toBit(organization.isDisabled),
    models: toColumn(organization.models),
    settings: toColumn(organization.settings),
    limits: toColumn(organization.limits),
    routes: toColumn(organization.routes),
    created_at: organization.createdAt,
    revision,
  };
}
