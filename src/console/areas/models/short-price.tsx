import { useTranslation } from "react-i18next";
import { formatMoney } from "../../ui/text/format.ts";
import type { ModelRow } from "./model-state.tsx";

/** A model's default price in a few words: input and output, or the least of a picture. */
export function ShortPrice({ price }: { price: ModelRow["price"] }) {
  const { t } = useTranslation("models");
  if (!price) return <span className="text-muted">{t("price.none")}</span>;
  const { currency, perMillion, perImage } = price;
  if (perMillion) {
    const shown = (amount: string | undefined) =>
      amount === undefined ? "–" : formatMoney(amount, currency);
    const input = shown(perMillion["input"]);
    const output = perMillion["output"];
    return output === undefined || Number(output) === 0
      ? t("price.perMillionIn", { input })
      : t("price.perMillion", { input, output: shown(output) });
  }
  const least = leastOf(Object.values(perImage ?? {}).flatMap((amounts) => Object.values(amounts)));
  return least === null ? t("price.none") : t("price.perImage", { amount: formatMoney(least, currency) });
}

function leastOf(amounts: readonly string[]): string | null {
  return amounts.reduce<string | null>(
    (least, amount) => (least === null || Number(amount) < Number(least) ? amount : least),
    null,
  );
}
