/** Roles of members; each role includes the rights of the roles before it. */
export const ROLES = ["viewer", "billing", "admin", "owner"] as const;

/**
 * `viewer` reads; `billing` changes prices and budgets and corrects charges; `admin` changes everything else but
 * members; `owner` changes members, too.
 */
export type Role = (typeof ROLES)[number];

export function isAtLeast(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/**
 * Rights of a member or token: a role in some organizations or, with `"*"`, in all of them and over what they share.
 */
export interface Access {
  role: Role;
  organizations: "*" | readonly string[];
}

/** Access of the command line, which has the database anyway. */
export const FULL_ACCESS: Access = { role: "owner", organizations: "*" };
