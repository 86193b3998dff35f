import type { Role } from "../../admin/roles.ts";
import { useCan } from "../api/session.ts";

/** The tabs of the areas that have several pages. `needs` is what reading one takes, where that is more than any role. */
export const IMAGE_PAGES = [
  { to: "/images", label: "tab.controls" },
  { to: "/images/gallery", label: "tab.gallery" },
] as const;

export const MODEL_PAGES = [
  { to: "/models", label: "tab.models" },
  { to: "/models/providers", label: "tab.providers", needs: ["viewer", "installation"] },
  { to: "/models/prices", label: "tab.prices" },
] as const;

export const MONEY_PAGES = [
  { to: "/money", label: "tab.budgets" },
  { to: "/money/ledger", label: "tab.ledger" },
] as const;

export const SETTING_PAGES = [
  { to: "/settings", label: "tab.organizations" },
  { to: "/settings/members", label: "tab.members", needs: ["admin", "organization"] },
  { to: "/settings/webhooks", label: "tab.webhooks" },
  { to: "/settings/alerts", label: "tab.alerts" },
  { to: "/settings/audit", label: "tab.audit" },
  { to: "/settings/configuration", label: "tab.configuration", needs: ["admin", "installation"] },
  { to: "/settings/account", label: "account" },
] as const;

/** The pages that whoever is signed in may read. */
export function useReadable<AreaPage extends object>(pages: readonly AreaPage[]): AreaPage[] {
  const can = useCan();
  return pages.filter((page) => {
    const { needs } = page as { needs?: readonly [role: Role, reach: "organization" | "installation"] };
    return !needs || can(...needs);
  });
}
