import type { MemberRecord, SessionRecord } from "../../src/admin/members/schema.ts";
import type { AdminStore } from "../../src/admin/admin-store.ts";
import type { AdminTokenRecord } from "../../src/admin/tokens/schema.ts";
import type { Actor } from "../../src/admin/actor.ts";

type Note = (by: Actor, change: string) => void;

/** Members, sessions, admin tokens and sign-in counts in memory, with the database's rules. */
export function memoryMemberStores(
  note: Note,
): Pick<AdminStore, "members" | "sessions" | "adminTokens" | "signInAttempts"> {
  const members = new Map<string, MemberRecord>();
  const sessions = new Map<string, SessionRecord>();
  const tokens = new Map<string, AdminTokenRecord>();
  const attempts = new Map<string, { count: number; endsAt: number }>();
  const memberOf = (id: string) => structuredClone(members.get(id) ?? null);
  const countOwners = (besides: string) => ({
    otherOwners: [...members.values()].filter(
      ({ id, role, organizations, isDisabled }) =>
        id !== besides && role === "owner" && organizations === "*" && !isDisabled,
    ).length,
  });
  return {
    members: {
      async create(member, by) {
        const isTaken = [...members.values()].some(
          ({ name, email }) => name === member.name || (email !== null && email === member.email),
        );
        if (isTaken) return false;
        members.set(member.id, structuredClone({ ...member, version: 1 }));
        note(by, `create member ${member.name}`);
        return true;
      },
      get: async (id) => memberOf(id),
      async find(by) {
        const isMeant = (member: MemberRecord) =>
          Object.entries(by).every(([field, value]) => member[field as keyof MemberRecord] === value);
        return structuredClone([...members.values()].find(isMeant) ?? null);
      },
      list: async () => structuredClone([...members.values()]),
      async update(id, change, { by, action }) {
        const before = memberOf(id);
        if (!before) return null;
        const after = { ...before, ...change(before, countOwners(id)) };
        if (action !== "sign in") after.version += 1;
        members.set(id, structuredClone(after));
        note(by, `${action} member ${after.name}`);
        return after;
      },
      async remove(id, check, by) {
        const before = memberOf(id);
        if (!before) return false;
        check(before, countOwners(id));
        members.delete(id);
        note(by, `remove member ${before.name}`);
        return true;
      },
      note: async (subject, { by, action }) => note(by, `${action} ${subject}`),
    },
    sessions: {
      create: async (session) => void sessions.set(session.hash, session),
      async get(hash) {
        const session = sessions.get(hash);
        const member = session && memberOf(session.memberId);
        return session && member ? { session, member } : null;
      },
      list: async (memberId) => [...sessions.values()].filter((each) => each.memberId === memberId),
      async touch({ id }, at) {
        for (const session of sessions.values()) if (session.id === id) session.seenAt = at;
      },
      async remove(memberId, id) {
        const found = [...sessions.values()].find((each) => each.memberId === memberId && each.id === id);
        return found !== undefined && sessions.delete(found.hash);
      },
      async removeAll(memberId) {
        const own = [...sessions.values()].filter((each) => each.memberId === memberId);
        for (const { hash } of own) sessions.delete(hash);
        return own.length;
      },
      sweep: async () => {},
    },
    adminTokens: {
      async create(token, by) {
        tokens.set(token.id, structuredClone(token));
        note(by, `create admin token ${token.id}`);
      },
      get: async (id) => structuredClone(tokens.get(id) ?? null),
      async find(hash) {
        const token = [...tokens.values()].find((each) => each.hash === hash);
        const member = token && memberOf(token.memberId);
        return token && member ? { token: structuredClone(token), member } : null;
      },
      list: async (memberId) =>
        structuredClone(
          [...tokens.values()].filter((each) => memberId === undefined || each.memberId === memberId),
        ),
      touch: async () => {},
      remove: async (id) => tokens.delete(id),
    },
    signInAttempts: {
      async count(subject, now, windowMs) {
        const open = attempts.get(subject);
        const counted =
          open && open.endsAt > now
            ? { ...open, count: open.count + 1 }
            : { count: 1, endsAt: now + windowMs };
        attempts.set(subject, counted);
        return counted;
      },
      async forgive(subject) {
        const open = attempts.get(subject);
        if (open) attempts.set(subject, { ...open, count: open.count - 1 });
      },
      reset: async (subject) => void attempts.delete(subject),
      sweep: async () => {},
    },
  };
}
