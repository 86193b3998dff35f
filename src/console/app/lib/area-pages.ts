/** The tabs of the areas that have several pages. */
export const IMAGE_PAGES = [
  { to: "/images", label: "tab.controls" },
  { to: "/images/gallery", label: "tab.gallery" },
] as const;

export const MODEL_PAGES = [
  { to: "/models", label: "tab.models" },
  { to: "/models/providers", label: "tab.providers" },
  { to: "/models/prices", label: "tab.prices" },
] as const;

export const MONEY_PAGES = [
  { to: "/money", label: "tab.budgets" },
  { to: "/money/ledger", label: "tab.ledger" },
] as const;

export const SETTING_PAGES = [
  { to: "/settings", label: "tab.organizations" },
  { to: "/settings/members", label: "tab.members" },
  { to: "/settings/webhooks", label: "tab.webhooks" },
  { to: "/settings/alerts", label: "tab.alerts" },
  { to: "/settings/audit", label: "tab.audit" },
  { to: "/settings/configuration", label: "tab.configuration" },
  { to: "/settings/account", label: "account" },
] as const;
