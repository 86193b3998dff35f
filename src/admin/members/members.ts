import { operatorMessage } from "../../domain/operator-message.ts";
import { z } from "zod";
import { newId } from "../../lib/ids.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import type { MemberChange, OwnerCount } from "./store-port.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { generatePassword, hashPassword } from "../sign-in/passwords.ts";
import type { Access } from "../roles.ts";
import { accessOf, covers, decidesForAll, requireWithin } from "../sign-in/signed-in.ts";
import { memberChangeSchema, memberCreationSchema, type MemberRecord } from "./schema.ts";

/**
 * Creates a member. If `password` is null, the member has no password and signs in at the identity provider. If
 * `password` is absent, a password is generated. The generated password is returned only once, and the member must
 * change it. Throws 409 for a name or address that exists, and 403 for a member with more access than the caller has.
 */
export async function createMember(
  context: AdminContext,
  input: z.output<typeof memberCreationSchema>,
): Promise<{ member: MemberRecord; password: string | null }> {
  const { password: given, ...fields } = input;
  await checkGiven(context, fields);
  const generated = given === undefined ? generatePassword() : null;
  const password = given === undefined ? generated : given;
  const { members } = context.store;
  if (await members.find({ name: fields.name }))
    throw new AdminError(409, "name", operatorMessage("error.taken", { noun: "member", id: fields.name }));
  await requireFreeEmail(context, fields.email);
  const member = {
    ...fields,
    id: newId("user"),
    isDisabled: false,
    passwordHash: password === null ? null : await hashPassword(password),
    mustChangePassword: generated !== null,
    totp: null,
    identity: null,
    lastSeenAt: null,
    createdAt: context.clock.now(),
  };
  if (!(await members.create(member, context.by)))
    throw new AdminError(409, "name", operatorMessage("error.member.taken", {}));
  return { member: await getMember(context, member.id), password: generated };
}

/** Returns the members that the caller may see: members whose organizations all belong to the caller. */
export async function listMembers(context: AdminContext): Promise<MemberRecord[]> {
  const access = accessOf(context);
  return (await context.store.members.list()).filter(({ organizations }) => covers(access, organizations));
}

/** Returns a member. Throws 404 for an unknown member, and for a member that the caller may not see. */
export async function getMember(context: AdminContext, id: string): Promise<MemberRecord> {
  const member = await context.store.members.get(id);
  if (member && covers(accessOf(context), member.organizations)) return member;
  throw new AdminError(404, "id", operatorMessage("error.missing", { noun: "member", id }));
}

/**
 * Changes the fields that the input contains. Throws 409 when `version` is not the current version or the installation
 * would have no owner left. Throws 403 when the member has, or would get, more access than the caller.
 */
export async function updateMember(
  context: AdminContext,
  id: string,
  input: z.output<typeof memberChangeSchema>,
): Promise<MemberRecord> {
  const { version, isTotpOn, ...fields } = input;
  const known = await getMember(context, id);
  await checkGiven(context, { role: fields.role ?? known.role, organizations: fields.organizations });
  await requireFreeEmail(context, fields.email, id);
  const change: MemberChange = (before, count) => {
    requireVersion(before, version);
    requireManageable(context, before);
    const after = { ...before, ...fields };
    requireOwnerLeft(before, after, count);
    return { ...fields, ...(isTotpOn === false && { totp: null }) };
  };
  const after = await context.store.members.update(id, change, { by: context.by, action: "update" });
  return after ?? (await getMember(context, id));
}

/** Removes a member with all sessions and tokens of the member. Throws 409 for the last owner of the installation. */
export async function removeMember(context: AdminContext, id: string): Promise<void> {
  await getMember(context, id);
  const check = (before: MemberRecord, count: OwnerCount): void => {
    requireManageable(context, before);
    requireOwnerLeft(before, null, count);
  };
  if (!(await context.store.members.remove(id, check, context.by))) await getMember(context, id);
}

/**
 * Gives a member a generated password, which is returned only once and must be changed. Ends the member's sessions and
 * admin tokens, because anybody who knew the earlier password may have made these sessions and tokens. TOTP stays on. A
 * member who signs in at the identity provider would not notice the new password. For such a member, throws 403 unless
 * the caller is a member of all organizations.
 */
export async function resetPassword(
  context: AdminContext,
  id: string,
): Promise<{ member: MemberRecord; password: string }> {
  await getMember(context, id);
  const password = generatePassword();
  const passwordHash = await hashPassword(password);
  const change: MemberChange = (before) => {
    requireManageable(context, before);
    if (before.identity !== null && !decidesForAll(context))
      throw new AdminError(403, null, operatorMessage("error.member.provider", {}));
    return { passwordHash, mustChangePassword: true };
  };
  const note = { by: context.by, action: "reset password", endsTokens: true } as const;
  const member = await context.store.members.update(id, change, note);
  return { member: member ?? (await getMember(context, id)), password };
}

/** Ends all sessions of a member. Returns the number of ended sessions. */
export async function signOutMember(context: AdminContext, id: string): Promise<number> {
  requireManageable(context, await getMember(context, id));
  const { by, store } = context;
  const sessions = await store.sessions.removeAll(id);
  await store.members.note(id, { by, action: "sign out", detail: { sessions } });
  return sessions;
}

async function checkGiven(
  context: AdminContext,
  { role, organizations }: { role: Access["role"]; organizations: Access["organizations"] | undefined },
): Promise<void> {
  requireWithin(context, { role, organizations: organizations ?? [] });
  if (organizations !== undefined && organizations !== "*")
    for (const id of organizations) await getOrganization(context, id, "organizations");
}

async function requireFreeEmail(
  { store }: AdminContext,
  email: string | null | undefined,
  id?: string,
): Promise<void> {
  const holder = email ? await store.members.find({ email }) : null;
  if (holder && holder.id !== id)
    throw new AdminError(409, "email", operatorMessage("error.member.email", {}));
}

/**
 * Throws 403 when the member has more access than the caller. Changes call this function in their transaction, because
 * the member may have got more access after the first check.
 */
function requireManageable(context: AdminContext, member: MemberRecord): void {
  requireWithin(context, member);
}

function requireVersion({ version: present }: MemberRecord, version: number | undefined): void {
  if (version !== undefined && version !== present)
    throw new AdminError(409, "version", operatorMessage("error.changed", {}));
}

function requireOwnerLeft(
  before: MemberRecord,
  after: MemberRecord | null,
  { otherOwners }: OwnerCount,
): void {
  if (otherOwners > 0 || !isOwner(before) || (after && isOwner(after))) return;
  throw new AdminError(409, null, operatorMessage("error.member.lastOwner", {}));
}

export function isOwner({ role, organizations, isDisabled }: MemberRecord): boolean {
  return role === "owner" && organizations === "*" && !isDisabled;
}
