/** Roles of members, ascending. Each role includes the rights of all roles before it. */
export const ROLES = ["viewer", "billing", "admin", "owner"] as const;

/**
 * `viewer` reads. `billing` changes prices and budgets and corrects charges. `admin` changes everything except members.
 * `owner` also changes members.
 */
export type Role = (typeof ROLES)[number];

export function isAtLeast(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/**
 * Rights of a member or token: a role in some organizations or, with `"*"`, in all organizations and over everything
 * that organizations share.
 */
export interface Access {
  role: Role;
  organizations: "*" | readonly string[];
}

/** Access of the command line, which can change the database anyway. */
export const FULL_ACCESS: Access = { role: "owner", organizations: "*" };
