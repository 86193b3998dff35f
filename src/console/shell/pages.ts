import type { LucideIcon } from "lucide-react";
import { useTranslation } from "react-i18next";
import { AREAS } from "./navigation.tsx";
import { IMAGE_PAGES, MODEL_PAGES, MONEY_PAGES, SETTING_PAGES, useReadable } from "./area-pages.ts";

/** Every page that has an address of its own, by its name. */
export function usePages() {
  const { t } = useTranslation();
  const areas = AREAS.map(({ to, label, icon }) => ({ to, label: t(label), icon: icon as LucideIcon }));
  const iconOf = (area: string) => areas.find(({ to }) => to === area)?.icon ?? AREAS[0].icon;
  const models = useReadable(MODEL_PAGES.slice(1));
  const settings = useReadable(SETTING_PAGES.slice(1));
  return [
    ...areas,
    ...models.map(({ to, label }) => ({ to, label: t(label), icon: iconOf("/models") })),
    ...IMAGE_PAGES.slice(1).map(({ to, label }) => ({ to, label: t(label), icon: iconOf("/images") })),
    ...MONEY_PAGES.slice(1).map(({ to, label }) => ({ to, label: t(label), icon: iconOf("/money") })),
    ...settings.map(({ to, label }) => ({ to, label: t(label), icon: iconOf("/settings") })),
  ];
}
