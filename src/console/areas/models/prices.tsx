import { useTranslation } from "react-i18next";
import { Money } from "../../ui/text/money.tsx";
import { CATEGORIES } from "../prices/cells.ts";
import type { ModelRow } from "./model-state.tsx";

const NAMES = Object.values(CATEGORIES);

/** A model's default price in force, cell by cell. */
export function Prices({ price }: { price: ModelRow["price"] }) {
  const { t } = useTranslation("models");
  const { t: money } = useTranslation("money");
  const titleOf = (part: string) => {
    const category = NAMES.find((name) => name === part);
    return category ? money(`token.${category}`) : part;
  };
  if (!price) return <p className="text-muted">{t("why.no_price")}</p>;
  const { currency, perMillion, perImage } = price;
  const cells = perMillion
    ? Object.entries(perMillion).map(([name, amount]) => [titleOf(name), amount] as const)
    : Object.entries(perImage ?? {}).flatMap(([tier, amounts]) =>
        Object.entries(amounts).map(
          ([quality, amount]) => [`${tier} ${quality === "*" ? "" : quality}`, amount] as const,
        ),
      );
  return (
    <>
      <dl className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-1.5">
        {cells.map(([name, amount]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="text-right">
              <Money amount={amount} currency={currency} />
            </dd>
          </div>
        ))}
      </dl>
      <p className="mt-3 text-xs text-muted">{t(perMillion ? "price.unit.tokens" : "price.unit.image")}</p>
    </>
  );
}
