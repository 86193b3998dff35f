import type { KeyRecord } from "../../admin/ports.ts";
import type { ChangeKind } from "../stores/change.ts";
import { firstOf } from "../database/columns.ts";
import type { BudgetPlace, Stored } from "./directory.ts";
import { readKeyRow, type KeyRow } from "../stores/keys.ts";
import { organizationStore } from "../stores/organizations.ts";
import { priceStore } from "../stores/prices.ts";
import type { Database } from "../database/sql.ts";

/** What a snapshot reads of the database. */
export interface SnapshotSource {
  /** Kinds of rows changed after one revision and up to another. */
  changedKinds(after: bigint, upTo: bigint): Promise<Set<ChangeKind>>;
  /** Reads anew those parts whose kind is named, and keeps the others. */
  load(kinds: ReadonlySet<ChangeKind>, old: Stored): Promise<Stored>;
  /** Keys changed after one revision and up to another, page by page. */
  changedKeys(after: bigint, upTo: bigint): AsyncGenerator<KeyRecord[]>;
  /** The keys changed last. */
  latestKeys(limit: number): Promise<KeyRecord[]>;
  findKey(hash: string): Promise<KeyRecord | null>;
}

/** A request waits for this look-up. */
const FIND_TIMEOUT_MS = 1000;
const PAGE = 1000;

export function snapshotSource(database: Database): SnapshotSource {
  const organizations = organizationStore(database);
  const prices = priceStore(database);
  return {
    async changedKinds(after, upTo) {
      const rows = await database.read(
        (sql) => sql<{ kind: ChangeKind }[]>`
          SELECT DISTINCT kind FROM audit WHERE revision > ${after} AND revision <= ${upTo}`,
      );
      return new Set(rows.map((row) => row.kind));
    },
    async load(kinds, old) {
      return {
        organizations: kinds.has("organization") ? await organizations.list() : old.organizations,
        prices: kinds.has("price") ? await prices.list() : old.prices,
        budgets: kinds.has("budget") ? await budgetPlaces(database) : old.budgets,
      };
    },
    async *changedKeys(after, upTo) {
      for (let from = after; ;) {
        const rows = await database.read(
          (sql) => sql<KeyRow[]>`SELECT * FROM api_keys WHERE revision > ${from} AND revision <= ${upTo}
            ORDER BY revision LIMIT ${PAGE}`,
        );
        yield rows.map(readKeyRow);
        const last = rows.at(-1);
        if (!last || rows.length < PAGE) return;
        from = BigInt(last.revision);
      }
    },
    async latestKeys(limit) {
      const rows = await database.read(
        (sql) => sql<KeyRow[]>`SELECT * FROM api_keys ORDER BY revision DESC LIMIT ${limit}`,
      );
      return rows.map(readKeyRow);
    },
    async findKey(hash) {
      const rows = await database.read(
        (sql) => sql<KeyRow[]>`SELECT * FROM api_keys WHERE hash = ${hash}`,
        FIND_TIMEOUT_MS,
      );
      const row = firstOf(rows);
      return row && readKeyRow(row);
    },
  };
}

async function budgetPlaces(database: Database): Promise<BudgetPlace[]> {
  return await database.read(
    (sql) => sql<BudgetPlace[]>`SELECT id, organization_id AS "organizationId", key_id AS "keyId"
      FROM budgets ORDER BY id`,
  );
}
