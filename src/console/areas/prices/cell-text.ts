import { useTranslation } from "react-i18next";
import { formatCount } from "../../ui/text/format.ts";
import { readCellName } from "./cells.ts";

/** The name of a cell in words. */
export function useCellText(): (cell: string) => string {
  const { t } = useTranslation(["prices", "money"]);
  const qualityOf = (quality: string) => (quality === "*" ? t("quality.any") : quality);
  return (cell) => {
    const name = readCellName(cell);
    if (name.kind === "image") return `${name.tier} · ${qualityOf(name.quality)}`;
    if (name.kind === "use") return t("use", { feature: name.feature });
    const category = t(`money:token.${name.category}`);
    return name.above === null ? category : t("above", { category, count: formatCount(name.above) });
  };
}
