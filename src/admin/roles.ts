/** What a member may do; each role may do what those before it may. */
export const ROLES = ["viewer", "billing", "admin", "owner"] as const;

/**
 * `viewer` reads; `billing` changes prices and budgets and corrects charges; `admin` changes everything else but
 * members; `owner` changes members, too.
 */
export type Role = (typeof ROLES)[number];

export function isAtLeast(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/** Who administers: a role in some organizations or, with `"*"`, in all of them and over what they share. */
export interface Access {
  role: Role;
  organizations: "*" | readonly string[];
}

/** Of the command line, which has the database anyway. */
export const FULL_ACCESS: Access = { role: "owner", organizations: "*" };
