import { operatorMessage } from "../../domain/operator-message.ts";
import { hashSecret, randomText } from "../../lib/secret.ts";
import { newId } from "../../lib/ids.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import type { MemberRecord, SessionRecord } from "../members/schema.ts";
import { requireSession, type Origin } from "./signed-in.ts";

/** Number of characters that contain 256 random bits. */
const TOKEN_LENGTH = 43;
const IDLE_MS = 30 * 60_000;
const MAX_SESSION_MS = 12 * 60 * 60_000;
const TOUCH_MS = 60_000;
const MAX_AGENT_LENGTH = 300;

type Stored = Pick<AdminContext, "store" | "clock">;

/**
 * Opens a session for a member who has signed in, and returns its token; only the hash is stored. `version` is the
 * member's version at the sign-in. Throws 401 when the member was changed after the sign-in, because the change may
 * have ended all sessions.
 */
export async function openSession(
  { store, clock }: Stored,
  { id: memberId, version }: Pick<MemberRecord, "id" | "version">,
  { address, agent }: Origin,
): Promise<string> {
  const token = randomText(TOKEN_LENGTH);
  const now = clock.now();
  const session = {
    id: newId("session"),
    hash: hashSecret(token),
    memberId,
    createdAt: now,
    seenAt: now,
    address,
    agent: agent.slice(0, MAX_AGENT_LENGTH),
  };
  await store.sessions.create(session);
  if ((await store.members.get(memberId))?.version !== version) {
    await store.sessions.remove(memberId, session.id);
    throw new AdminError(401, null, operatorMessage("error.account.changed", {}));
  }
  await store.sessions.touch(session, now);
  return token;
}

/**
 * Returns the session of a token with its member. Throws 401 for an unknown or ended session and for a disabled member.
 */
export async function readSession(
  { store, clock }: Stored,
  token: string,
): Promise<{ session: SessionRecord; member: MemberRecord }> {
  const found = await store.sessions.get(hashSecret(token));
  const now = clock.now();
  if (!found || hasEnded(found.session, now) || found.member.isDisabled)
    throw new AdminError(401, null, operatorMessage("error.signInAgain", {}));
  if (now - found.session.seenAt > TOUCH_MS) await store.sessions.touch(found.session, now);
  return found;
}

/** Ends the session of a token, if there is one. */
export async function forgetSession({ store }: Stored, token: string): Promise<void> {
  const found = await store.sessions.get(hashSecret(token));
  if (found) await store.sessions.remove(found.member.id, found.session.id);
}

/** Returns the open sessions of the signed-in member, newest first. */
export async function listSessions(context: AdminContext): Promise<SessionRecord[]> {
  const { member } = requireSession(context);
  const now = context.clock.now();
  return (await context.store.sessions.list(member.id)).filter((each) => !hasEnded(each, now));
}

/** Ends one session of the signed-in member. Throws 404 for an unknown session. */
export async function removeSession(context: AdminContext, id: string): Promise<void> {
  const { member, session } = requireSession(context);
  if (!(await context.store.sessions.remove(member.id, id)))
    throw new AdminError(404, "id", operatorMessage("error.missing", { noun: "session", id }));
  await noteSignOut(context, member);
  if (id === session.id) session.setToken(null);
}

/** Ends the session that the request uses. */
export async function signOut(context: AdminContext): Promise<void> {
  await removeSession(context, requireSession(context).session.id);
}

/** Ends every session of the signed-in member, including the current one. */
export async function signOutEverywhere(context: AdminContext): Promise<void> {
  const { member, session } = requireSession(context);
  const sessions = await context.store.sessions.removeAll(member.id);
  await noteSignOut(context, member, { sessions });
  session.setToken(null);
}

/** Removes sessions that have ended, and counts of sign-in attempts whose window has ended. */
export async function sweepSessions({ store, clock }: Stored): Promise<void> {
  const now = clock.now();
  await store.sessions.sweep({ seenBefore: now - IDLE_MS, createdBefore: now - MAX_SESSION_MS });
  await store.signInAttempts.sweep(now);
}

/** Returns the time at which a session ends if no further request uses it. */
export function endOf({ createdAt, seenAt }: SessionRecord): number {
  return Math.min(seenAt + IDLE_MS, createdAt + MAX_SESSION_MS);
}

function hasEnded(session: SessionRecord, now: number): boolean {
  return now > endOf(session);
}

async function noteSignOut(
  { store, by }: AdminContext,
  { id }: MemberRecord,
  detail?: object,
): Promise<void> {
  await store.members.note(id, { by, action: "sign out", detail });
}
