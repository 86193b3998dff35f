import { useTranslation } from "react-i18next";
import type { ListedModel, ListedPrice } from "../../api/public.ts";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { Id } from "../../ui/text/id.tsx";
import { Money } from "../../ui/text/money.tsx";

/** The quality of requests that set none. */
const DEFAULT_QUALITY = "auto";

/** Lists the models that the key may call, with their prices. */
export function ModelPriceList({
  models,
  prices,
}: {
  models: readonly ListedModel[];
  prices: readonly ListedPrice[];
}) {
  const { t } = useTranslation("ownKey");
  const byModel = Map.groupBy(prices, ({ model }) => model);
  if (models.length === 0) return <EmptyState>{t("models.none")}</EmptyState>;
  return (
    <ul className="max-h-128 divide-y divide-line overflow-y-auto" tabIndex={0}>
      {models.map(({ id, display_name: name }) => (
        <li key={id} className="flex flex-wrap items-baseline gap-x-6 gap-y-1 px-4 py-2.5">
          <span className="min-w-48 flex-1">
            <span className="block font-medium">{name ?? id}</span>
            <Id value={id} />
          </span>
          <span className="flex flex-wrap gap-x-4 text-muted">
            {byModel.get(id)?.map((price) => <PriceTexts key={JSON.stringify(price)} price={price} />) ??
              t("prices.none")}
          </span>
        </li>
      ))}
    </ul>
  );
}

function PriceTexts({ price }: { price: ListedPrice }) {
  const { t } = useTranslation("ownKey");
  const { currency } = price;
  if (price.unit === "image")
    return price.quality === DEFAULT_QUALITY ? (
      <span>
        {price.tier} <Money amount={price.unit_price} currency={currency} />
      </span>
    ) : null;
  const { input, output } = price.prices;
  return (
    <>
      {input !== undefined && (
        <span>
          {t("prices.input")} <Money amount={input} currency={currency} />
        </span>
      )}
      {output !== undefined && (
        <span>
          {t("prices.output")} <Money amount={output} currency={currency} />
        </span>
      )}
      <span>{t("prices.million")}</span>
    </>
  );
}
