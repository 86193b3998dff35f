import { operatorMessage } from "../../domain/operator-message.ts";
import { AdminError } from "../admin-error.ts";
import type { MemberRecord } from "../members/schema.ts";
import { FULL_ACCESS, isAtLeast, type Access } from "../roles.ts";

/** A caller whose session or admin token was accepted. */
export interface SignedIn {
  member: MemberRecord;
  /** The member's access. For an admin token, at most the access of the token. */
  access: Access;
  /** The session; null when the caller sent an admin token. */
  session: OpenSession | null;
}

/** The session of a request. */
interface OpenSession {
  id: string;
  origin: Origin;
  /** Replaces the token in the browser; null removes it. */
  setToken(token: string | null): void;
}

/** Origin of a request, for the list of sessions and the audit. */
export interface Origin {
  address: string;
  agent: string;
}

/**
 * The caller of an operation. `signedIn` is absent on the command line, which needs no checks because it can change the
 * database directly.
 */
export interface Caller {
  signedIn?: SignedIn;
}

export function accessOf({ signedIn }: Caller): Access {
  return signedIn?.access ?? FULL_ACCESS;
}

/** Returns the signed-in member of an operation. Throws 403 when there is none. */
export function requireMember({ signedIn }: Caller): SignedIn {
  if (signedIn) return signedIn;
  throw new AdminError(403, null, operatorMessage("error.membersOnly", {}));
}

/**
 * Returns the session of an operation. Throws 403 for an admin token, which must not change how its member signs in.
 */
export function requireSession(caller: Caller): { member: MemberRecord; session: OpenSession } {
  const { member, session } = requireMember(caller);
  if (session) return { member, session };
  throw new AdminError(403, null, "this needs a session: an admin token is not enough");
}

/** Throws 403 unless the caller has all the access that the caller gives to a member or token. */
export function requireWithin(caller: Caller, given: Access): void {
  const own = accessOf(caller);
  if (!isAtLeast(own.role, given.role))
    throw new AdminError(
      403,
      "role",
      operatorMessage("error.give.role", { own: own.role, role: given.role }),
    );
  if (!covers(own, given.organizations))
    throw new AdminError(403, "organizations", operatorMessage("error.give.organizations", {}));
}

/** True for a caller with access to all organizations. Such a caller decides about models, limits and prices. */
export function decidesForAll(caller: Caller): boolean {
  return accessOf(caller).organizations === "*";
}

/** True when an access includes all these organizations. */
export function covers({ organizations: own }: Access, organizations: Access["organizations"]): boolean {
  if (own === "*") return true;
  return organizations !== "*" && organizations.every((id) => own.includes(id));
}
