import { useTranslation } from "react-i18next";
import type { ListedPrice } from "../../api/public.ts";
import { Money } from "../../ui/text/money.tsx";
import { usePlaygroundPrice, type PlaygroundModel } from "./models.ts";

interface PriceLineProps {
  keyId: string;
  model: PlaygroundModel;
  /** Query of the price lookup. */
  query: Record<string, string>;
  /** Number of pictures, for a price per picture. */
  count: number;
  /** True to show the model's name, because several models are compared. */
  isNamed: boolean;
}

/** Shows the price of a request before it is sent. */
export function PriceLine({ keyId, model, query, count, isNamed }: PriceLineProps) {
  const { t } = useTranslation("playground");
  const price = usePlaygroundPrice(keyId, query);
  return (
    <p className="flex min-h-5 flex-wrap items-baseline gap-x-2 text-muted" data-price={model.id}>
      {isNamed && <span className="font-medium text-text">{model.displayName}</span>}
      {price.data && <Price price={price.data} count={count} />}
      {price.isPending && <span>{t("price.looking")}</span>}
      {price.isError && <span className="text-bad">{price.error.message}</span>}
    </p>
  );
}

function Price({ price, count }: { price: ListedPrice; count: number }) {
  const { t } = useTranslation("playground");
  const { currency } = price;
  if (price.unit === "token") {
    const { input = "0", output = "0" } = price.prices;
    return (
      <span>
        <Money amount={input} currency={currency} /> {t("price.input")} ·{" "}
        <Money amount={output} currency={currency} /> {t("price.output")}
      </span>
    );
  }
  return (
    <>
      <strong className="text-base font-semibold text-text">
        {price.settles_by === "delivered" && `${t("price.atMost")} `}
        <Money amount={price.total} currency={currency} />
      </strong>
      <span>
        {count > 1 && (
          <>
            {count} × <Money amount={price.unit_price} currency={currency} />{" "}
          </>
        )}
        {t("price.tier", { tier: price.tier })}
      </span>
    </>
  );
}
