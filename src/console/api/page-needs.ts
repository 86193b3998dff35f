import { useQuery } from "@tanstack/react-query";
import { isAtLeast, type Role } from "../../admin/roles.ts";
import { sessionQuery } from "./queries.ts";

/** The role that a page requires of its reader, in one organization or, with `installation`, in all organizations. */
export type PageNeeds = readonly [role: Role, reach?: "organization" | "installation"];

const CHANNEL: PageNeeds = ["viewer", "installation"];

/** The pages that not every role may read, by their addresses. A part with `$` matches any part of an address. */
const PAGE_NEEDS: Readonly<Record<string, PageNeeds>> = {
  "/playground": ["admin"],
  "/playground/chat": ["admin"],
  "/playground/messages": ["admin"],
  "/keys/new": ["admin"],
  "/models/providers": CHANNEL,
  "/models/providers/add": ["admin", "installation"],
  "/models/providers/$id": CHANNEL,
  "/settings/members": ["admin"],
  "/settings/configuration": ["admin", "installation"],
};

/** Returns the needs of the page at an address, or of a route; undefined for a page that every role may read. */
export function needsOf(path: string): PageNeeds | undefined {
  const parts = path.split("/");
  const isAt = (pattern: string): boolean => {
    const own = pattern.split("/");
    return (
      own.length === parts.length && own.every((part, index) => part.startsWith("$") || part === parts[index])
    );
  };
  return PAGE_NEEDS[path] ?? PAGE_NEEDS[Object.keys(PAGE_NEEDS).find(isAt) ?? ""];
}

/**
 * Returns a function of a page's path below `/console`. The function is true when the signed-in member may read the
 * page, and for every path when nobody is signed in.
 */
export function useMayRead(): (path: string) => boolean {
  const { data: session } = useQuery({ ...sessionQuery, enabled: false });
  return (path) => {
    const needs = needsOf(path);
    if (!session || !needs) return true;
    const [role, reach = "organization"] = needs;
    return isAtLeast(session.role, role) && (reach === "organization" || session.organizations === "*");
  };
}
