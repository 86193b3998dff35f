import { useSuspenseQuery } from "@tanstack/react-query";
import { isAtLeast, type Role } from "../../admin/roles.ts";
import { sessionQuery, type Session } from "./queries.ts";

/** Who is signed in; for components below the shell. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data;
}

/** Whether whoever is signed in may do what needs a role; `installation` is for what all organizations share. */
export function useCan(): (role: Role, reach?: "organization" | "installation") => boolean {
  const { role: own, organizations } = useSession();
  return (role, reach = "organization") =>
    isAtLeast(own, role) && (reach === "organization" || organizations === "*");
}
