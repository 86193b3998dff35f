import type { MemberRecord, MemberStore, OwnerCount } from "../../admin/member-ports.ts";
import {
  definedFields,
  firstOf,
  toBit,
  toColumn,
  toNullableColumn,
  type Integer,
} from "../database/columns.ts";
import type { Database, Sql } from "../database/sql.ts";
import { makeChange } from "./change.ts";

/** Members; the audit records that a password was set and TOTP turned on, never a hash or a secret. */
export function memberStore(database: Database): MemberStore {
  return {
    create(member, by) {
      const change = { by, kind: "member", action: "create", subject: member.id } as const;
      return makeChange(database, change, async (sql, revision) => {
        const rows = await sql<object[]>`INSERT INTO administrators ${sql(writeRow(member, revision))}
          ON CONFLICT DO NOTHING RETURNING id`;
        return rows.length === 0 ? null : { before: null, after: withoutSecrets(member) };
      });
    },
    get: (id) => database.read((sql) => find(sql, id)),
    async find({ name, email, identity }) {
      const rows = await database.read(
        (sql) => sql<MemberRow[]>`SELECT * FROM administrators WHERE 1 = 1
          ${name === undefined ? sql`` : sql`AND name = ${name}`}
          ${email === undefined ? sql`` : sql`AND email = ${email}`}
          ${identity === undefined ? sql`` : sql`AND identity = ${identity}`} LIMIT 1`,
      );
      const row = firstOf(rows);
      return row && readMemberRow(row);
    },
    async list() {
      const rows = await database.read(
        (sql) => sql<MemberRow[]>`SELECT * FROM administrators ORDER BY created_at, id`,
      );
      return rows.map(readMemberRow);
    },
    async update(id, change, { by, action, detail, endsTokens }) {
      let after: MemberRecord | null = null;
      await makeChange(database, { by, kind: "member", action, subject: id }, async (sql, revision) => {
        const before = await find(sql, id);
        if (!before) return null;
        after = { ...before, ...definedFields(change(before, await countOwners(sql, id))) };
        // Signing in changes nothing that anybody edits.
        if (isEdited(before, after)) after.version = Number(revision);
        await sql`UPDATE administrators SET ${sql(writeRow(after, after.version))} WHERE id = ${id}`;
        if (endsSessions(before, after)) await sql`DELETE FROM sessions WHERE administrator_id = ${id}`;
        if (endsTokens) await sql`DELETE FROM admin_tokens WHERE administrator_id = ${id}`;
        return { before: withoutSecrets(before), after: { ...withoutSecrets(after), ...detail } };
      });
      return after;
    },
    remove: (id, check, by) =>
      makeChange(database, { by, kind: "member", action: "remove", subject: id }, async (sql) => {
        const before = await find(sql, id);
        if (!before) return null;
        check(before, await countOwners(sql, id));
        await sql`DELETE FROM sessions WHERE administrator_id = ${id}`;
        await sql`DELETE FROM admin_tokens WHERE administrator_id = ${id}`;
        await sql`DELETE FROM administrators WHERE id = ${id}`;
        return { before: withoutSecrets(before), after: null };
      }),
    async note(subject, { by, action, detail = {} }) {
      const change = { by, kind: "member", action, subject } as const;
      await makeChange(database, change, async () => ({ before: null, after: detail }));
    },
  };
}

function isEdited(before: MemberRecord, after: MemberRecord): boolean {
  const edited = (member: MemberRecord) => toColumn([withoutSecrets(member), member.passwordHash]);
  return edited(before) !== edited(after);
}

/** Their sessions were given to somebody who could do something else, or knew another password. */
function endsSessions(before: MemberRecord, after: MemberRecord): boolean {
  const rights = ({ role, organizations, isDisabled, passwordHash }: MemberRecord) =>
    toColumn([role, organizations, isDisabled, passwordHash]);
  return rights(before) !== rights(after);
}

async function countOwners(sql: Sql, besides: string): Promise<OwnerCount> {
  const rows = await sql<{ count: Integer }[]>`SELECT COUNT(*) AS count FROM administrators
    WHERE role = 'owner' AND organizations = '"*"' AND is_disabled = 0 AND id <> ${besides}`;
  return { otherOwners: Number(rows[0]?.count ?? 0) };
}

export interface MemberRow {
  id: string;
  name: string;
  email: string | null;
  role: MemberRecord["role"];
  organizations: string;
  is_disabled: Integer;
  password_hash: string;
  must_change_password: Integer;
  totp: string | null;
  identity: string | null;
  last_seen_at: Integer | null;
  created_at: Integer;
  revision: Integer;
}

async function find(sql: Sql, id: string): Promise<MemberRecord | null> {
  const row = firstOf(await sql<MemberRow[]>`SELECT * FROM administrators WHERE id = ${id}`);
  return row && readMemberRow(row);
}

export function readMemberRow(row: MemberRow): MemberRecord {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    organizations: JSON.parse(row.organizations),
    isDisabled: Number(row.is_disabled) === 1,
    passwordHash: row.password_hash === "" ? null : row.password_hash,
    mustChangePassword: Number(row.must_change_password) === 1,
    totp: row.totp === null ? null : JSON.parse(row.totp),
    identity: row.identity,
    lastSeenAt: row.last_seen_at === null ? null : Number(row.last_seen_at),
    createdAt: Number(row.created_at),
    version: Number(row.revision),
  };
}

function writeRow(member: Omit<MemberRecord, "version">, revision: bigint | number) {
  return {
    id: member.id,
    name: member.name,
    email: member.email,
    role: member.role,
    organizations: toColumn(member.organizations),
    is_disabled: toBit(member.isDisabled),
    password_hash: member.passwordHash ?? "",
    must_change_password: toBit(member.mustChangePassword),
    totp: toNullableColumn(member.totp),
    identity: member.identity,
    last_seen_at: member.lastSeenAt,
    created_at: member.createdAt,
    revision,
  };
}

function withoutSecrets(member: Omit<MemberRecord, "version">): object {
  const { id, name, email, role, organizations, isDisabled, mustChangePassword, identity, totp } = member;
  const isTotpOn = totp?.isConfirmed ?? false;
  return { id, name, email, role, organizations, isDisabled, mustChangePassword, identity, isTotpOn };
}
