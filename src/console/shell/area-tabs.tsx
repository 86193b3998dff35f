import { useTranslation } from "react-i18next";
import { useMayRead } from "../api/page-needs.ts";
import { RouteTabs } from "../ui/page/route-tabs.tsx";

/** The pages of each area that has more than one page, except the playground, which makes its own tabs. */
const AREA_PAGES = {
  images: [
    { to: "/images", label: "tab.controls" },
    { to: "/images/gallery", label: "tab.gallery" },
  ],
  models: [
    { to: "/models", label: "tab.models" },
    { to: "/models/providers", label: "tab.providers" },
    { to: "/models/prices", label: "tab.prices" },
  ],
  money: [
    { to: "/money", label: "tab.budgets" },
    { to: "/money/usage", label: "tab.usage" },
    { to: "/money/ledger", label: "tab.ledger" },
  ],
  settings: [
    { to: "/settings", label: "tab.organizations" },
    { to: "/settings/members", label: "tab.members" },
    { to: "/settings/webhooks", label: "tab.webhooks" },
    { to: "/settings/alerts", label: "tab.alerts" },
    { to: "/settings/audit", label: "tab.audit" },
    { to: "/settings/configuration", label: "tab.configuration" },
    { to: "/settings/account", label: "account" },
  ],
} as const;

type Area = keyof typeof AREA_PAGES;
type AreaPage = (typeof AREA_PAGES)[Area][number];

/** Shows the tabs of an area. They are passed to `Page`. */
export function AreaTabs({ area }: { area: Area }) {
  const { t } = useTranslation();
  const tabs = useAreaPages()(area).map(({ to, label }) => ({ to, label: t(label) }));
  return <RouteTabs label={t(`nav.${area}`)} tabs={tabs} />;
}

/** Returns a function that returns the pages of an area that the signed-in member may read. */
export function useAreaPages(): (area: Area) => AreaPage[] {
  const mayRead = useMayRead();
  return (area) => {
    const pages: readonly AreaPage[] = AREA_PAGES[area];
    return pages.filter(({ to }) => mayRead(to));
  };
}
