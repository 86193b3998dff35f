import { operatorMessage } from "../../domain/operator-message.ts";
import { AdminError } from "../admin-error.ts";
import type {
  AdminTokenStore,
  MemberStore,
  SessionStore,
  SignInAttemptStore,
} from "../members/store-port.ts";
import type { MemberRecord } from "../members/schema.ts";
import type { AdminStore } from "../admin-store.ts";
import { isAtLeast, type Access } from "../roles.ts";
import { covers } from "../sign-in/signed-in.ts";
import { refused, type OrganizationScope } from "./scope.ts";

/**
 * Members, sessions and tokens. A member of only some organizations sees only their own record and members without
 * access beyond their own. Such a member cannot give more access than they have.
 */
export const scopedIdentity = {
  members(store: MemberStore, scope: OrganizationScope): MemberStore {
    const isOwn = (member: MemberRecord) => member.id === scope.memberId || isCovered(scope, member);
    const ownOrNull = (member: MemberRecord | null) => (member && isOwn(member) ? member : null);
    const get: MemberStore["get"] = async (id) => ownOrNull(await store.get(id));
    return {
      async create(member, by) {
        requireCovered(scope, member);
        return await store.create(member, by);
      },
      get,
      // The search covers all organizations, because names and addresses must be unique among all members.
      find: (by) => store.find(by),
      list: async () => (await store.list()).filter(isOwn),
      async update(id, change, note) {
        if (!(await get(id))) return null;
        const checked: typeof change = (before, count) => {
          const fields = change(before, count);
          requireCovered(scope, { ...before, ...fields });
          return fields;
        };
        return await store.update(id, checked, note);
      },
      remove: async (id, check, by) => (await get(id)) !== null && (await store.remove(id, check, by)),
      note: (subject, note) => store.note(subject, note),
    };
  },

  sessions: (
    store: SessionStore,
    scope: OrganizationScope,
    { members }: Pick<AdminStore, "members">,
  ): SessionStore => ({
    async create(session) {
      requireSelf(scope.memberId, session.memberId);
      await store.create(session);
    },
    async get(hash) {
      const found = await store.get(hash);
      return found?.session.memberId === scope.memberId ? found : null;
    },
    list: async (id) => (id === scope.memberId ? await store.list(id) : []),
    async touch(session, at) {
      requireSelf(scope.memberId, session.memberId);
      await store.touch(session, at);
    },
    remove: async (ofMember, id) => ofMember === scope.memberId && (await store.remove(ofMember, id)),
    async removeAll(id) {
      const member = await members.get(id);
      const isOwn = member && (id === scope.memberId || isCovered(scope, member));
      return isOwn ? await store.removeAll(id) : 0;
    },
    sweep: refused,
  }),

  adminTokens(store: AdminTokenStore, scope: OrganizationScope): AdminTokenStore {
    const get: AdminTokenStore["get"] = async (id) => {
      const token = await store.get(id);
      return token?.memberId === scope.memberId ? token : null;
    };
    return {
      async create(token, by) {
        requireSelf(scope.memberId, token.memberId);
        requireCovered(scope, token);
        await store.create(token, by);
      },
      get,
      find: refused,
      list: () => store.list(scope.memberId),
      async touch(id, at) {
        if (await get(id)) await store.touch(id, at);
      },
      remove: async (id, by) => (await get(id)) !== null && (await store.remove(id, by)),
    };
  },

  signInAttempts: (store: SignInAttemptStore): SignInAttemptStore => ({
    count: (...attempt) => store.count(...attempt),
    forgive: (subject) => store.forgive(subject),
    reset: refused,
    sweep: refused,
  }),
};

function isCovered({ organizations, role }: OrganizationScope, given: Access): boolean {
  return covers({ organizations, role }, given.organizations) && isAtLeast(role, given.role);
}

function requireCovered(scope: OrganizationScope, given: Access): void {
  if (!isCovered(scope, given)) throw new AdminError(403, null, operatorMessage("error.give", {}));
}

function requireSelf(memberId: string, other: string): void {
  if (other !== memberId) throw new AdminError(403, null, operatorMessage("error.others", {}));
}
