import { newId } from "../../lib/ids.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import type { MemberRecord } from "../members/schema.ts";
import type { MemberChange } from "../members/store-port.ts";
import { isOwner } from "../members/members.ts";
import { ROLES, type Role } from "../roles.ts";
import { openSession } from "./sessions.ts";
import type { Origin } from "./signed-in.ts";
import { memberEmailSchema, memberNameSchema } from "../members/schema.ts";

/** An OpenID provider at which members may sign in, as the operator configured it. */
export interface IdentitySettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Text of the button that leads to the provider. */
  label: string;
  scope: string;
  /** Name of the claim that contains the groups of a person; null when groups are not used. */
  roleClaim: string | null;
  /**
   * Groups by role: people in these groups get the role. The role is decided again at each sign-in. Null when owners
   * decide the roles.
   */
  roles: Partial<Record<Role, readonly string[]>> | null;
  defaultRole: Role;
  defaultOrganizations: "*" | readonly string[];
  /** Domains of e-mail addresses whose holders become members at their first sign-in. */
  allowedDomains: readonly string[];
}

/** Claims that the provider has signed about a person. */
export interface IdentityClaims {
  /** Issuer and subject, which together identify one person. */
  identity: string;
  /** E-mail address in lower case; null when the provider has not verified it. */
  verifiedEmail: string | null;
  /** Values of the claim that is configured as `roleClaim`. */
  groups: readonly string[];
}

/**
 * The changes after which a member can sign in only at the identity provider. They are made because the member's
 * creator knows the earlier password and may have entered somebody else's address.
 */
const NO_OTHER_WAY_IN = { passwordHash: null, mustChangePassword: false, totp: null } as const;

type Stored = Pick<AdminContext, "store" | "clock">;

/**
 * Opens a session for the member with this identity. If there is no such member, uses the member with this verified
 * address, or creates a member if the domain is allowed. The first sign-in by address leaves the identity provider as
 * the only way to sign in. Throws 403 for everybody else and for disabled members. Every sign-in and every refusal is
 * audited.
 */
export async function signInByIdentity(
  context: Stored,
  claims: IdentityClaims,
  settings: IdentitySettings,
  origin: Origin,
): Promise<{ token: string }> {
  const { members } = context.store;
  const source = `oidc/${origin.address}`;
  const known = await findMember(context, claims);
  try {
    const { id, name } = known ?? (await newMember(context, claims, settings, source));
    const change: MemberChange = (before, { otherOwners }) => {
      if (before.isDisabled) throw refused("the account is disabled");
      if (before.identity !== null && before.identity !== claims.identity)
        throw refused("the e-mail address belongs to another account of the identity provider");
      const role = settings.roles === null ? before.role : roleOf(claims, settings);
      const isLastOwner = isOwner(before) && otherOwners === 0;
      return {
        identity: claims.identity,
        role: isLastOwner ? before.role : role,
        ...(before.identity === null && NO_OTHER_WAY_IN),
      };
    };
    const member = await members.update(id, change, {
      by: { actor: name, source },
      action: "sign in",
      detail: { way: "identity provider" },
      ...(known?.identity === null && { endsTokens: true }),
    });
    if (!member) throw refused("the member was removed just now");
    return { token: await openSession(context, member, origin) };
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    const by = { actor: known?.name ?? "unknown", source };
    const detail = { reason: error.message, identity: claims.identity };
    await members.note(known?.id ?? "unknown", { by, action: "fail to sign in", detail });
    throw error;
  }
}

async function findMember(
  { store }: Stored,
  { identity, verifiedEmail }: IdentityClaims,
): Promise<MemberRecord | null> {
  const known = await store.members.find({ identity });
  if (known || verifiedEmail === null) return known;
  return await store.members.find({ email: verifiedEmail });
}

async function newMember(
  { store, clock }: Stored,
  { identity, verifiedEmail, groups }: IdentityClaims,
  settings: IdentitySettings,
  source: string,
): Promise<Pick<MemberRecord, "id" | "name">> {
  if (verifiedEmail === null) throw refused("the identity provider has not verified an e-mail address");
  const email = memberEmailSchema.safeParse(verifiedEmail);
  const name = memberNameSchema.safeParse(verifiedEmail);
  const [, domain = "", ...more] = verifiedEmail.split("@");
  if (!email.success || !name.success || more.length > 0)
    throw refused("the e-mail address cannot be the name of a member");
  if (!settings.allowedDomains.includes(domain)) throw refused("no member has this e-mail address");
  const member = {
    id: newId("user"),
    name: name.data,
    email: email.data,
    role: roleOf({ groups }, settings),
    organizations:
      settings.defaultOrganizations === "*" ? ("*" as const) : [...settings.defaultOrganizations],
    isDisabled: false,
    passwordHash: null,
    mustChangePassword: false,
    totp: null,
    identity,
    lastSeenAt: null,
    createdAt: clock.now(),
  };
  if (!(await store.members.create(member, { actor: member.name, source })))
    throw refused("another member has this e-mail address for its name");
  return member;
}

/**
 * Returns the highest role that is mapped to one of the groups, otherwise the default role. The name of a group is
 * never used as a role.
 */
function roleOf({ groups }: Pick<IdentityClaims, "groups">, { roles, defaultRole }: IdentitySettings): Role {
  return ROLES.findLast((role) => roles?.[role]?.some((group) => groups.includes(group))) ?? defaultRole;
}

function refused(message: string): AdminError {
  return new AdminError(403, null, message);
}
