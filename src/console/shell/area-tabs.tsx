import { useTranslation } from "react-i18next";
import { IMAGE_PAGES, MODEL_PAGES, MONEY_PAGES, SETTING_PAGES, useReadable } from "./area-pages.ts";
import { RouteTabs } from "../ui/page/route-tabs.tsx";

const AREAS = {
  images: { label: "nav.images", pages: IMAGE_PAGES },
  models: { label: "nav.models", pages: MODEL_PAGES },
  money: { label: "nav.money", pages: MONEY_PAGES },
  settings: { label: "nav.settings", pages: SETTING_PAGES },
} as const;

/** The tabs of an area, for `Page`. */
export function AreaTabs({ area }: { area: keyof typeof AREAS }) {
  const { t } = useTranslation();
  const { label, pages } = AREAS[area];
  const tabs = useReadable<(typeof pages)[number]>(pages).map(({ to, label }) => ({ to, label: t(label) }));
  return <RouteTabs label={t(label)} tabs={tabs} />;
}
