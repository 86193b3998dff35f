import { useTranslation } from "react-i18next";
import { Money } from "../../ui/text/money.tsx";
import { Status } from "../../ui/text/status.tsx";
import type { ModelPrices } from "./cells.ts";

/** A price in a line: the range of an image, or of input and output. */
export function PriceSummary({ row, currency }: { row: ModelPrices; currency: string }) {
  const { t } = useTranslation("prices");
  if (row.cells.length === 0) return <Status level="warn">{t("unpriced")}</Status>;
  return row.type === "image" ? (
    <ImageSummary row={row} currency={currency} />
  ) : (
    <TokenSummary row={row} currency={currency} />
  );
}

function ImageSummary({ row: { cells }, currency }: { row: ModelPrices; currency: string }) {
  const { t } = useTranslation("prices");
  const amounts = cells.map(({ amount }) => amount).toSorted((one, other) => Number(one) - Number(other));
  const [least = "0"] = amounts;
  const most = amounts.at(-1) ?? least;
  return (
    <span className="whitespace-nowrap">
      <Money amount={least} currency={currency} />
      {least !== most && (
        <>
          {" – "}
          <Money amount={most} currency={currency} />
        </>
      )}
      <span className="text-muted"> {t("perImage")}</span>
    </span>
  );
}

function TokenSummary({ row: { cells }, currency }: { row: ModelPrices; currency: string }) {
  const { t } = useTranslation("prices");
  const shown = cells.filter(({ cell }) => cell === "input" || cell === "output");
  return (
    <span className="whitespace-nowrap">
      {shown.map(({ cell, amount }, index) => (
        <span key={cell}>
          {index > 0 && <span className="text-muted"> / </span>}
          <Money amount={amount} currency={currency} />
        </span>
      ))}
      <span className="text-muted"> {t("perMillion")}</span>
    </span>
  );
}
