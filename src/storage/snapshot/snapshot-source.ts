import type { ChangeKind } from "../../admin/audit/schema.ts";
import type { KeyRecord } from "../../admin/keys/schema.ts";
import type { ApiKey } from "../../domain/api-key.ts";
import { firstOf } from "../database/expressions.ts";
import type { Database } from "../database/sql.ts";
import type { Row } from "../database/table.ts";
import { keys } from "../tables/keys.ts";
import { organizationStore } from "../tables/organizations.ts";
import { priceStore } from "../tables/prices.ts";
import type { BudgetScope, Stored } from "./directory.ts";

/** The queries that a snapshot makes. */
export interface SnapshotSource {
  /** Returns the kinds of rows that changed after the revision `after`, up to `upTo`. */
  changedKinds(after: bigint, upTo: bigint): Promise<Set<ChangeKind>>;
  /**
   * Returns the ids of the budgets that changed after the revision `after`, up to `upTo`. It may also contain other
   * ids.
   */
  changedBudgets(after: bigint, upTo: bigint): Promise<string[]>;
  /** Returns `old` with the rows of the given kinds read from the database again. */
  load(kinds: ReadonlySet<ChangeKind>, old: Stored): Promise<Stored>;
  /**
   * Yields the keys that changed after the revision `after`, up to `upTo`, in pages. A key with several secrets occurs
   * once for each secret.
   */
  changedKeys(after: bigint, upTo: bigint): AsyncGenerator<KeyRecord[]>;
  /** Returns the most recently changed keys, without deleted ones. */
  latestKeys(limit: number): Promise<KeyRecord[]>;
  findKey(hash: string): Promise<KeyRecord | null>;
}

/** Timeout of the search for a key. It is short, because a request waits for the search. */
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
    async changedBudgets(after, upTo) {
      const rows = await database.read(
        (sql) => sql<{ subject: string }[]>`
          SELECT DISTINCT subject FROM audit WHERE revision > ${after} AND revision <= ${upTo} AND kind = 'budget'`,
      );
      return rows.map((row) => row.subject);
    },
    async load(kinds, old) {
      return {
        organizations: kinds.has("organization") ? await organizations.list() : old.organizations,
        prices: kinds.has("price") ? await prices.list() : old.prices,
        budgets: kinds.has("budget") ? await budgetScopes(database) : old.budgets,
      };
    },
    async *changedKeys(after, upTo) {
      for (let from = after; ;) {
        const rows = await database.read(
          (sql) => sql<Row[]>`SELECT * FROM api_keys WHERE revision > ${from} AND revision <= ${upTo}
            ORDER BY revision LIMIT ${PAGE}`,
        );
        const changed = rows.map(keys.read);
        yield changed;
        const until = BigInt(changed.at(-1)?.version ?? upTo);
        yield await retiredKeys(database, from, until);
        if (rows.length < PAGE) return;
        from = until;
      }
    },
    async latestKeys(limit) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM api_keys WHERE deleted_at IS NULL
          ORDER BY revision DESC LIMIT ${limit}`,
      );
      return rows.map(keys.read);
    },
    async findKey(hash) {
      const rows = await database.read(
        (sql) => sql<SecretRow[]>`
          SELECT api_keys.*, hash AS secret, CAST(NULL AS BIGINT) AS secret_expires_at
            FROM api_keys WHERE hash = ${hash}
          UNION ALL SELECT api_keys.*, retired_secrets.hash, retired_secrets.expires_at
            FROM retired_secrets JOIN api_keys ON api_keys.id = key_id WHERE retired_secrets.hash = ${hash}`,
        FIND_TIMEOUT_MS,
      );
      const row = firstOf(rows);
      return row && readSecretRow(row);
    },
  };
}

/** A key with one of its secrets. `secret_expires_at` is null for the current secret. */
type SecretRow = Row & { secret: string };

/** Returns the keys that changed in a range of revisions, once for each of their earlier secrets. */
async function retiredKeys(database: Database, after: bigint, upTo: bigint): Promise<KeyRecord[]> {
  const rows = await database.read(
    (sql) => sql<SecretRow[]>`
      SELECT api_keys.*, retired_secrets.hash AS secret, retired_secrets.expires_at AS secret_expires_at
        FROM api_keys JOIN retired_secrets ON key_id = api_keys.id
        WHERE api_keys.revision > ${after} AND api_keys.revision <= ${upTo}`,
  );
  return rows.map(readSecretRow);
}

/** An earlier secret is accepted until its own end or the end of the key, whichever is earlier. */
function readSecretRow(row: SecretRow): KeyRecord {
  const key = keys.read(row);
  if (row["secret_expires_at"] === null) return key;
  const ends = [Number(row["secret_expires_at"]), key.expiresAt ?? Infinity];
  return { ...key, hash: row.secret, expiresAt: Math.min(...ends) };
}

async function budgetScopes(database: Database): Promise<BudgetScope[]> {
  return await database.read(
    (sql) => sql<BudgetScope[]>`SELECT id, organization_id AS "organizationId", key_id AS "keyId"
      FROM budgets ORDER BY id`,
  );
}

/**
 * Recently used keys by hash, in limited memory. Two generations approximate the order of use: a key that was used
 * since the last change of generations survives the next change. A hit in the recent generation costs one lookup.
 */
interface KeyCache {
  get(hash: string): ApiKey | undefined;
  put(hash: string, key: ApiKey): void;
  /** Replaces a cached key. Does nothing when the key is not cached. */
  refresh(hash: string, key: ApiKey): void;
  /** Replaces every key by the result of `change`. */
  update(change: (key: ApiKey) => ApiKey): void;
  clear(): void;
}

/**
 * Returns a cache of at most `capacity` keys. It always contains the most recently used keys, up to half of `capacity`.
 */
export function keyCache(capacity: number): KeyCache {
  const generation = Math.max(1, Math.floor(capacity / 2));
  let recent = new Map<string, ApiKey>();
  let older = new Map<string, ApiKey>();
  const put = (hash: string, key: ApiKey) => {
    if (recent.size >= generation && !recent.has(hash)) {
      older = recent;
      recent = new Map();
    }
    recent.set(hash, key);
  };
  return {
    get(hash) {
      const key = recent.get(hash);
      if (key) return key;
      const aged = older.get(hash);
      if (aged) put(hash, aged);
      return aged;
    },
    put,
    refresh(hash, key) {
      if (older.has(hash)) older.set(hash, key);
      if (recent.has(hash)) recent.set(hash, key);
    },
    update(change) {
      for (const keys of [recent, older]) {
        for (const [hash, key] of keys) {
          const next = change(key);
          if (next !== key) keys.set(hash, next);
        }
      }
    },
    clear() {
      recent = new Map();
      older = new Map();
    },
  };
}
