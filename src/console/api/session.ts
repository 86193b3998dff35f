import { useSuspenseQuery } from "@tanstack/react-query";
import { isAtLeast, type Role } from "../../admin/roles.ts";
import { sessionQuery, type Session } from "./queries.ts";

/** Returns the signed-in member. For components inside the shell. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data;
}

/**
 * Returns a function that is true when the signed-in member has the given role or a higher role. With `installation`,
 * it is true only when the member has the role for all organizations.
 */
export function useCan(): (role: Role, reach?: "organization" | "installation") => boolean {
  const { role: own, organizations } = useSession();
  return (role, reach = "organization") =>
    isAtLeast(own, role) && (reach === "organization" || organizations === "*");
}
