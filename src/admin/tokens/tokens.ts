import { operatorMessage } from "../../domain/operator-message.ts";
import { z } from "zod";
import { newId } from "../../lib/ids.ts";
import { hashSecret, isWellFormedAdminToken, newAdminToken, secretPrefix } from "../../lib/secret.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import { isOwner } from "../members/members.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { isAtLeast, type Access } from "../roles.ts";
import {
  accessOf,
  covers,
  requireMember,
  requireSession,
  requireWithin,
  type SignedIn,
} from "../sign-in/signed-in.ts";
import { tokenCreationSchema, type AdminTokenRecord } from "./schema.ts";

const DAY_MS = 24 * 60 * 60_000;
const MAX_LIFE_MS = 366 * DAY_MS;
const TOUCH_MS = 60_000;

/**
 * Creates an admin token, which is returned only once. Throws 403 for a token with more access than the caller has.
 * Also throws 403 when the caller itself uses a token, because a leaked token could otherwise be replaced before it
 * ends.
 */
export async function createAdminToken(
  context: AdminContext,
  fields: z.output<typeof tokenCreationSchema>,
): Promise<{ secret: string; token: AdminTokenRecord }> {
  const { member } = requireSession(context);
  requireWithin(context, fields);
  const { organizations } = fields;
  if (organizations !== "*")
    for (const id of organizations) await getOrganization(context, id, "organizations");
  const now = context.clock.now();
  const { expiresAt } = fields;
  if (expiresAt <= now) throw new AdminError(400, "expiresAt", operatorMessage("error.expired", {}));
  if (expiresAt > now + MAX_LIFE_MS)
    throw new AdminError(400, "expiresAt", operatorMessage("error.token.longest", {}));
  const secret = newAdminToken();
  const token: AdminTokenRecord = {
    ...fields,
    id: newId("token"),
    hash: hashSecret(secret),
    prefix: secretPrefix(secret),
    memberId: member.id,
    lastUsedAt: null,
    createdAt: now,
  };
  await context.store.adminTokens.create(token, context.by);
  return { secret, token };
}

/** Returns the caller's own admin tokens. An owner of the installation gets all tokens. */
export async function listAdminTokens(context: AdminContext): Promise<AdminTokenRecord[]> {
  const { member } = requireMember(context);
  return await context.store.adminTokens.list(seesAll(context) ? undefined : member.id);
}

/**
 * Removes an admin token. The token is refused from now on. Throws 404 for an unknown token, and for the token of
 * another member unless the caller is an owner of the installation.
 */
export async function removeAdminToken(context: AdminContext, id: string): Promise<void> {
  const { member } = requireMember(context);
  const token = await context.store.adminTokens.get(id);
  const isOwn = token?.memberId === member.id;
  const isRemoved = (isOwn || seesAll(context)) && (await context.store.adminTokens.remove(id, context.by));
  if (!isRemoved) throw new AdminError(404, "id", operatorMessage("error.missing", { noun: "token", id }));
}

/**
 * Returns the member and the rights of an admin token. Throws 401 for an unknown or expired token, and for the token of
 * a disabled member.
 */
export async function readAdminToken(
  { store, clock }: Pick<AdminContext, "store" | "clock">,
  text: string,
): Promise<SignedIn & { tokenId: string }> {
  const refusal = new AdminError(401, null, "the admin token is unknown or has expired");
  if (!isWellFormedAdminToken(text)) throw refusal;
  const found = await store.adminTokens.find(hashSecret(text));
  const now = clock.now();
  if (!found || found.token.expiresAt <= now || found.member.isDisabled) throw refusal;
  const { token, member } = found;
  const access = commonAccess(token, member);
  if (!access) throw refusal;
  if (now - (token.lastUsedAt ?? 0) > TOUCH_MS) await store.adminTokens.touch(token.id, now);
  return { member, access, session: null, tokenId: token.id };
}

/** Returns the rights that two accesses share; null for none. */
function commonAccess(one: Access, other: Access): Access | null {
  const role = isAtLeast(one.role, other.role) ? other.role : one.role;
  if (covers(other, one.organizations)) return { role, organizations: one.organizations };
  if (covers(one, other.organizations)) return { role, organizations: other.organizations };
  const organizations = (one.organizations as readonly string[]).filter((id) => covers(other, [id]));
  return organizations.length === 0 ? null : { role, organizations };
}

function seesAll(context: AdminContext): boolean {
  return isOwner({ ...requireMember(context).member, ...accessOf(context) } as Parameters<typeof isOwner>[0]);
}
