import type { MemberRecord } from "../../admin/members/schema.ts";
import type { MemberStore, OwnerCount } from "../../admin/members/store-port.ts";
import { type Integer, definedFields, toColumn } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import {
  bit,
  integer,
  json,
  named,
  nullable,
  table,
  text,
  time,
  type Column,
  type Row,
} from "../database/table.ts";
import { makeChange } from "./change.ts";

/** The column stores an empty text for a member without a password. */
const passwordHash: Column<string | null> = {
  read: (stored) => (stored === "" ? null : String(stored)),
  write: (hash) => hash ?? "",
};

export const members = table<MemberRecord>("administrators", {
  id: text(),
  name: text(),
  email: nullable(text()),
  role: text(),
  organizations: json(),
  isDisabled: bit(),
  passwordHash,
  mustChangePassword: bit(),
  totp: nullable(json()),
  identity: nullable(text()),
  lastSeenAt: nullable(time()),
  createdAt: time(),
  version: named("revision", integer()),
});

/** Members. The audit records that a password was set or TOTP was turned on, but no hash or secret. */
export function memberStore(database: Database): MemberStore {
  return {
    create(member, by) {
      const change = { by, kind: "member", action: "create", subject: member.id } as const;
      return makeChange(database, change, async (sql, revision) => {
        const row = members.write({ ...member, version: Number(revision) });
        const rows = await sql<object[]>`INSERT INTO administrators ${sql(row)}
          ON CONFLICT DO NOTHING RETURNING id`;
        return rows.length === 0 ? null : { before: null, after: withoutSecrets(member) };
      });
    },
    get: (id) => findMember(database, id),
    async find({ name, email, identity }) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM administrators WHERE 1 = 1
          ${name === undefined ? sql`` : sql`AND name = ${name}`}
          ${email === undefined ? sql`` : sql`AND email = ${email}`}
          ${identity === undefined ? sql`` : sql`AND identity = ${identity}`} LIMIT 1`,
      );
      return members.first(rows);
    },
    async list() {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM administrators ORDER BY created_at, id`,
      );
      return rows.map(members.read);
    },
    async update(id, change, { by, action, detail, endsTokens }) {
      let after: MemberRecord | null = null;
      await makeChange(database, { by, kind: "member", action, subject: id }, async (sql, revision) => {
        const before = await find(sql, id);
        if (!before) return null;
        after = { ...before, ...definedFields(change(before, await countOwners(sql, id))) };
        // Signing in changes none of the fields that people edit, so the version stays the same.
        if (isEdited(before, after)) after.version = Number(revision);
        await sql`UPDATE administrators SET ${sql(members.write(after))} WHERE id = ${id}`;
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

/** True when a change must end the member's sessions: the member's rights or password are different now. */
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

async function find(sql: Sql, id: string): Promise<MemberRecord | null> {
  return members.first(await sql<Row[]>`SELECT * FROM administrators WHERE id = ${id}`);
}

/** Returns the member with an id, or null, for stores of data that belongs to members. */
export function findMember(database: Database, id: string): Promise<MemberRecord | null> {
  return database.read((sql) => find(sql, id));
}

function withoutSecrets(member: Omit<MemberRecord, "version">): object {
  const { id, name, email, role, organizations, isDisabled, mustChangePassword, identity, totp } = member;
  const isTotpOn = totp?.isConfirmed ?? false;
  return { id, name, email, role, organizations, isDisabled, mustChangePassword, identity, isTotpOn };
}
