import { makeChange, withoutVersion } from "./change.ts";
import { ofOrganizations, pageOf, partOf } from "./list-page.ts";
import { definedFields, firstOf, type Integer } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import type { Actor } from "../../admin/actor.ts";
import type { KeyFilter, KeyStore } from "../../admin/keys/store-port.ts";
import type { KeyRecord } from "../../admin/keys/schema.ts";
import { bit, integer, json, named, nullable, table, text, time, type Row } from "../database/table.ts";
import { systemClock } from "../../lib/clock.ts";

export const keys = table<KeyRecord>("api_keys", {
  id: text(),
  organizationId: text(),
  name: text(),
  prefix: named("hint", text()),
  hash: text(),
  scopes: json(),
  models: json(),
  addresses: nullable(json()),
  limits: json(),
  isDisabled: bit(),
  refuseIgnored: bit(),
  expiresAt: nullable(time()),
  createdAt: time(),
  version: named("revision", integer()),
});

/** Gateway keys. They are stored with the hash of the secret and never with the secret. */
export function keyStore(database: Database): KeyStore {
  return { ...keyReads(database), ...keyChanges(database) };
}

type KeyChanges = Pick<KeyStore, "create" | "update" | "rotate" | "remove">;

function keyChanges(database: Database): KeyChanges {
  return {
    async create(key, by) {
      const change = { by, kind: "key", action: "create", subject: key.id } as const;
      let version = 0;
      const isNew = await makeChange(database, change, async (sql, revision) => {
        const known = await sql<object[]>`SELECT hash FROM api_keys WHERE hash = ${key.hash}
          UNION ALL SELECT hash FROM retired_secrets WHERE hash = ${key.hash}`;
        if (known.length > 0) return null;
        version = Number(revision);
        await sql`INSERT INTO api_keys ${sql(keys.write({ ...key, version }))}`;
        return { before: null, after: forAudit({ ...key, version }) };
      });
      return isNew ? { ...key, version } : null;
    },
    async update(id, change, by) {
      let after: KeyRecord | null = null;
      const audited = { by, kind: "key", action: "update", subject: id } as const;
      await makeChange(database, audited, async (sql, revision) => {
        const before = await find(sql, id);
        if (!before) return null;
        after = { ...before, ...definedFields(change(before)), version: Number(revision) };
        await sql`UPDATE api_keys SET ${sql(keys.write(after))} WHERE id = ${id}`;
        return { before: forAudit(before), after: forAudit(after) };
      });
      return after;
    },
    rotate: (id, secret, overlapEndsAt, by) => rotate(database, id, secret, overlapEndsAt, by),
    remove: (id, by) => remove(database, id, by),
  };
}

function keyReads(database: Database): Omit<KeyStore, keyof KeyChanges> {
  return {
    ...keySummaries(database),
    get: (id) => database.read((sql) => find(sql, id)),
    async findByHash(hash) {
      return keys.first(
        await database.read((sql) => sql<Row[]>`SELECT * FROM api_keys WHERE hash = ${hash}`),
      );
    },
    async isRetired(hash) {
      const rows = await database.read(
        (sql) => sql<object[]>`SELECT hash FROM retired_secrets WHERE hash = ${hash}`,
      );
      return rows.length > 0;
    },
    async list(organizationId, most) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM api_keys WHERE deleted_at IS NULL
          ${organizationId === undefined ? sql`` : sql`AND organization_id = ${organizationId}`}
          ORDER BY created_at, id ${most === undefined ? sql`` : sql`LIMIT ${most}`}`,
      );
      return rows.map(keys.read);
    },
    async page({ organizationId, organizationIds, search, state, ...page }) {
      const pattern = search === undefined ? undefined : partOf(search);
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM api_keys WHERE deleted_at IS NULL
          ${ofOrganizations(sql, { organizationId, organizationIds })}
          ${
            pattern === undefined
              ? sql``
              : sql`AND (LOWER(id) LIKE ${pattern} ESCAPE '!' OR LOWER(name) LIKE ${pattern} ESCAPE '!'
                  OR LOWER(hint) LIKE ${pattern} ESCAPE '!')`
          }
          ${state === undefined ? sql`` : inState(sql, state)}
          ${pageOf(sql, page)}`,
      );
      return rows.map(keys.read);
    },
  };
}

/** Returns the methods that read facts about several keys without their rows. */
function keySummaries(database: Database): Pick<KeyStore, "count" | "names" | "lastUsed"> {
  return {
    async count(organizationId, most) {
      const rows = await database.read(
        (sql) => sql<{ count: Integer }[]>`SELECT COUNT(*) AS count FROM
          (SELECT id FROM api_keys WHERE organization_id = ${organizationId} AND deleted_at IS NULL LIMIT ${most}) AS own`,
      );
      return Number(firstOf(rows)?.count ?? 0);
    },
    async names(ids, organizationIds) {
      if (ids.length === 0) return new Map();
      const rows = await database.read(
        (sql) => sql<
          { id: string; name: string }[]
        >`SELECT id, name FROM api_keys WHERE id IN ${sql([...ids])}
          ${ofOrganizations(sql, { organizationIds })}`,
      );
      return new Map(rows.map(({ id, name }) => [id, name]));
    },
    async lastUsed(ids) {
      if (ids.length === 0) return new Map();
      // The query takes one index step for each key, however many charges the key has.
      const rows = await database.read(
        (sql) => sql<{ id: string; charged: Integer | null; logged: Integer | null }[]>`
          SELECT id, (SELECT MAX(at) FROM ledger WHERE key_id = api_keys.id) AS charged,
            (SELECT MAX(at) FROM request_log WHERE key_id = api_keys.id) AS logged
          FROM api_keys WHERE id IN ${sql([...ids])}`,
      );
      const used = rows.filter(({ charged, logged }) => charged !== null || logged !== null);
      return new Map(
        used.map(({ id, charged, logged }) => [
          id,
          {
            chargedAt: charged === null ? null : Number(charged),
            seenAt: Math.max(Number(charged ?? 0), Number(logged ?? 0)),
          },
        ]),
      );
    },
  };
}

function rotate(
  database: Database,
  id: string,
  { hash, prefix }: Parameters<KeyStore["rotate"]>[1],
  overlapEndsAt: number,
  by: Actor,
): Promise<boolean> {
  const change = { by, kind: "key", action: "rotate", subject: id } as const;
  return makeChange(database, change, async (sql, revision) => {
    const before = await find(sql, id);
    if (!before) return null;
    await retireSecret(sql, before, overlapEndsAt);
    await sql`UPDATE api_keys SET hash = ${hash}, hint = ${prefix}, revision = ${revision} WHERE id = ${id}`;
    const { organizationId } = before;
    return { before: { prefix: before.prefix }, after: { prefix, overlapEndsAt }, organizationId };
  });
}

function remove(database: Database, id: string, by: Actor): Promise<boolean> {
  const change = { by, kind: "key", action: "remove", subject: id } as const;
  return makeChange(database, change, async (sql, revision) => {
    const before = await find(sql, id);
    if (!before) return null;
    const now = systemClock.now();
    await retireSecret(sql, before, now);
    await sql`UPDATE api_keys SET hash = ${`deleted:${id}`}, is_disabled = 1, deleted_at = ${now},
      revision = ${revision} WHERE id = ${id}`;
    return { before: forAudit(before), after: null };
  });
}

function inState(sql: Sql, { name, now }: NonNullable<KeyFilter["state"]>) {
  if (name === "disabled") return sql`AND is_disabled = 1`;
  if (name === "expired") return sql`AND is_disabled = 0 AND expires_at <= ${now}`;
  return sql`AND is_disabled = 0 AND (expires_at IS NULL OR expires_at > ${now})`;
}

/** Limits the time for which the current secret of a key and its earlier secrets are accepted. */
async function retireSecret(sql: Sql, { id, hash }: KeyRecord, expiresAt: number): Promise<void> {
  await sql`UPDATE retired_secrets SET expires_at = ${expiresAt} WHERE key_id = ${id} AND expires_at > ${expiresAt}`;
  await sql`INSERT INTO retired_secrets (hash, key_id, expires_at) VALUES (${hash}, ${id}, ${expiresAt})`;
}

async function find(sql: Sql, id: string): Promise<KeyRecord | null> {
  return keys.first(await sql<Row[]>`SELECT * FROM api_keys WHERE id = ${id} AND deleted_at IS NULL`);
}

function forAudit({ hash: _hash, ...key }: KeyRecord): object {
  return withoutVersion(key);
}
