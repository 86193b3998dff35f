import { useTranslation } from "react-i18next";
import { Money } from "../../ui/text/money.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import { imageCell, qualitiesOf, useCellText, type PriceCell, type ModelPrices } from "./cells.ts";

const HEAD = "border-b border-line py-2 pr-4 text-left text-xs font-medium whitespace-nowrap text-muted";
const CELL = "border-b border-line py-2 pr-4 align-top";

/** Shows every amount in force and its origin: for images as a table by size and quality, otherwise as a list. */
export function CellsTable({ row, currency }: { row: ModelPrices; currency: string }) {
  const { t } = useTranslation("prices");
  if (row.cells.length === 0) return <Status level="warn">{t("unpriced")}</Status>;
  return (
    <div className="max-w-3xl overflow-x-auto" tabIndex={0} role="group" aria-label={t("detail.cells")}>
      {row.type === "image" ? (
        <ImageTable row={row} currency={currency} />
      ) : (
        <LinesTable row={row} currency={currency} />
      )}
    </div>
  );
}

function ImageTable({ row, currency }: { row: ModelPrices; currency: string }) {
  const { t } = useTranslation("prices");
  const qualities = qualitiesOf(row);
  return (
    <table className="min-w-full">
      <thead>
        <tr>
          <th scope="col" className={HEAD}>
            {t("column.tier")}
          </th>
          {qualities.map((quality) => (
            <th key={quality} scope="col" className={HEAD}>
              {quality === "*" ? t("quality.any") : quality === "auto" ? t("quality.auto") : quality}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {row.tiers.map((tier) => (
          <tr key={tier}>
            <th scope="row" className={`${CELL} text-left font-medium`}>
              {tier}
            </th>
            {qualities.map((quality) => (
              <td key={quality} className={CELL}>
                <Amount cell={imageCell(row, tier, quality)} currency={currency} origin={row.origin} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function LinesTable({ row: { cells, origin }, currency }: { row: ModelPrices; currency: string }) {
  const { t } = useTranslation("prices");
  const textOf = useCellText();
  return (
    <table className="min-w-full">
      <thead>
        <tr>
          <th scope="col" className={HEAD}>
            {t("preview.cell")}
          </th>
          <th scope="col" className={HEAD}>
            {t("column.price")}
          </th>
        </tr>
      </thead>
      <tbody>
        {cells.map((cell) => (
          <tr key={cell.cell}>
            <th scope="row" className={`${CELL} text-left font-normal`}>
              {textOf(cell.cell)}
            </th>
            <td className={CELL}>
              <Amount cell={cell} currency={currency} origin={origin} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Amount({
  cell,
  currency,
  origin,
}: {
  cell: PriceCell | undefined;
  currency: string;
  origin: ModelPrices["origin"];
}) {
  const { t } = useTranslation("prices");
  if (!cell) return <span className="text-muted">{t("preview.none")}</span>;
  return (
    <span className="flex flex-col">
      <span>
        <Money amount={cell.amount} currency={currency} />
        <span className="text-muted"> {unitOf(cell.cell, t)}</span>
      </span>
      <span className="text-xs text-muted">
        {t(`source.${cell.source === "configuration" ? origin : cell.source}`)}
        {cell.effectiveFrom !== null && (
          <>
            {" · "}
            <Time at={cell.effectiveFrom} />
          </>
        )}
      </span>
    </span>
  );
}

function unitOf(cell: string, t: (key: "perImage" | "perMillion" | "perUse") => string): string {
  if (cell.includes(":")) return t("perImage");
  return t(cell.endsWith(" use") ? "perUse" : "perMillion");
}
