import type { Actor } from "../actor.ts";
import type { MemberRecord, SessionRecord } from "./schema.ts";
import type { AdminTokenRecord } from "../tokens/schema.ts";

/** Facts about the other members that decide whether a change of a member is allowed. */
export interface OwnerCount {
  /** Number of enabled owners of the whole installation, without the changed member. */
  otherOwners: number;
}

/** The store of members. Transactions change members one after another, so no two changes undo each other. */
export interface MemberStore {
  /** Stores a member. Returns false when another member has the same name, e-mail address or identity. */
  create(member: Omit<MemberRecord, "version">, by: Actor): Promise<boolean>;
  get(id: string): Promise<MemberRecord | null>;
  find(
    by: Partial<Pick<MemberRecord, "name">> & { email?: string; identity?: string },
  ): Promise<MemberRecord | null>;
  /** Returns all members, oldest first. */
  list(): Promise<MemberRecord[]>;
  /**
   * Replaces the fields of a member that `change` returns for the member's current state. When `change` throws, nothing
   * is changed. Ends the member's sessions when the password, the role, the organizations or `isDisabled` changes.
   * Returns the changed member, or null for an unknown member.
   */
  update(id: string, change: MemberChange, note: MemberNote): Promise<MemberRecord | null>;
  /**
   * Removes a member with the member's sessions and tokens, unless `check` throws. Returns false for an unknown member.
   */
  remove(id: string, check: (before: MemberRecord, count: OwnerCount) => void, by: Actor): Promise<boolean>;
  /** Writes an audit row about an action that changed no member. */
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
  /** True to remove the member's admin tokens as well. */
  endsTokens?: true;
}

export interface SessionStore {
  create(session: SessionRecord): Promise<void>;
  get(hash: string): Promise<{ session: SessionRecord; member: MemberRecord } | null>;
  /** Returns the sessions of a member, newest first. */
  list(memberId: string): Promise<SessionRecord[]>;
  /** Records that the session and its member were active at a time. */
  touch(session: Pick<SessionRecord, "id" | "memberId">, at: number): Promise<void>;
  remove(memberId: string, id: string): Promise<boolean>;
  /** Removes all sessions of a member and returns their number. */
  removeAll(memberId: string): Promise<number>;
  /** Removes the sessions that were last seen before `seenBefore` or created before `createdBefore`. */
  sweep(ended: { seenBefore: number; createdBefore: number }): Promise<void>;
}

export interface AdminTokenStore {
  create(token: AdminTokenRecord, by: Actor): Promise<void>;
  get(id: string): Promise<AdminTokenRecord | null>;
  find(hash: string): Promise<{ token: AdminTokenRecord; member: MemberRecord } | null>;
  /** Returns the tokens of one member or of all members, oldest first. */
  list(memberId?: string): Promise<AdminTokenRecord[]>;
  touch(id: string, at: number): Promise<void>;
  remove(id: string, by: Actor): Promise<boolean>;
}

/** Counts of sign-in attempts by account, network, session and browser. All processes share these counts. */
export interface SignInAttemptStore {
  /**
   * Counts one more attempt in the window that is open at `now`, or opens a new window. Times are in Unix milliseconds.
   */
  count(subject: string, now: number, windowMs: number): Promise<{ count: number; endsAt: number }>;
  /** Subtracts one attempt. */
  forgive(subject: string): Promise<void>;
  reset(subject: string): Promise<void>;
  sweep(endedBefore: number): Promise<void>;
}
