import type { Actor } from "../actor.ts";
import type { MemberRecord, SessionRecord } from "./schema.ts";
import type { AdminTokenRecord } from "../tokens/schema.ts";

/** Further facts about the members that decide whether a change is allowed. */
export interface OwnerCount {
  /** Enabled owners of the whole installation but for this member. */
  otherOwners: number;
}

/** Members. One transaction changes one after another, so no two changes undo each other. */
export interface MemberStore {
  /** False when the name, the e-mail address or the identity is another's. */
  create(member: Omit<MemberRecord, "version">, by: Actor): Promise<boolean>;
  get(id: string): Promise<MemberRecord | null>;
  find(
    by: Partial<Pick<MemberRecord, "name">> & { email?: string; identity?: string },
  ): Promise<MemberRecord | null>;
  /** Oldest first. */
  list(): Promise<MemberRecord[]>;
  /**
   * Writes the member that `change` returns for the present one; when it throws, nothing is changed. Ends the member's
   * sessions where the password, the role, the organizations or `isDisabled` changes. Returns the member afterwards,
   * null for an unknown one.
   */
  update(id: string, change: MemberChange, note: MemberNote): Promise<MemberRecord | null>;
  /** Removes a member with the sessions and the tokens, unless `check` throws. False for an unknown one. */
  remove(id: string, check: (before: MemberRecord, count: OwnerCount) => void, by: Actor): Promise<boolean>;
  /** Leaves an audit row of an action that changed no member. */
  note(subject: string, note: MemberNote): Promise<void>;
}

export type MemberChange = (
  before: MemberRecord,
  count: OwnerCount,
) => Partial<Omit<MemberRecord, "id" | "name" | "createdAt" | "version">>;

export type MemberAction =
  | "update"
  | "sign in"
  | "fail to sign in"
  | "sign out"
  | "change password"
  | "reset password"
  | "turn on TOTP"
  | "turn off TOTP";

interface MemberNote {
  by: Actor;
  action: MemberAction;
  /** Details for the audit, without secrets. */
  detail?: object;
  /** Removes the member's admin tokens, too. */
  endsTokens?: true;
}

export interface SessionStore {
  create(session: SessionRecord): Promise<void>;
  get(hash: string): Promise<{ session: SessionRecord; member: MemberRecord } | null>;
  /** Newest first. */
  list(memberId: string): Promise<SessionRecord[]>;
  /** Notes that the session, and with it its member, was used. */
  touch(session: Pick<SessionRecord, "id" | "memberId">, at: number): Promise<void>;
  remove(memberId: string, id: string): Promise<boolean>;
  /** Returns how many there were. */
  removeAll(memberId: string): Promise<number>;
  /** Removes the sessions that were last seen, or created, before a time. */
  sweep(ended: { seenBefore: number; createdBefore: number }): Promise<void>;
}

export interface AdminTokenStore {
  create(token: AdminTokenRecord, by: Actor): Promise<void>;
  get(id: string): Promise<AdminTokenRecord | null>;
  find(hash: string): Promise<{ token: AdminTokenRecord; member: MemberRecord } | null>;
  /** Oldest first, of one member or of all. */
  list(memberId?: string): Promise<AdminTokenRecord[]>;
  touch(id: string, at: number): Promise<void>;
  remove(id: string, by: Actor): Promise<boolean>;
}

/** Sign-ins by account and by address, counted in the database because several processes listen on the port. */
export interface SignInAttemptStore {
  /** Counts one more in the window that is open at `now`, or else opens one. Times are Unix milliseconds. */
  count(subject: string, now: number, windowMs: number): Promise<{ count: number; endsAt: number }>;
  /** Takes one back. */
  forgive(subject: string): Promise<void>;
  reset(subject: string): Promise<void>;
  sweep(endedBefore: number): Promise<void>;
}
