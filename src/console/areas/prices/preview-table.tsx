import { ArrowRight } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Money } from "../../ui/text/money.tsx";
import type { Output } from "../../api/call.ts";
import { useCellText } from "./cells.ts";

type ComparedCell = Output<"prices.preview">["cells"][number];

/** The changed prices before and after a change. */
export function PreviewTable({ cells, currency }: { cells: readonly ComparedCell[]; currency: string }) {
  const { t } = useTranslation("prices");
  const textOf = useCellText();
  const changed = cells.filter(({ before, after }) => before !== after);
  if (changed.length === 0) return <p className="text-muted">{t("preview.same")}</p>;
  return (
    <table className="w-full">
      <thead className="text-xs text-muted">
        <tr>
          <th scope="col" className="py-1 text-left font-medium">
            {t("preview.cell")}
          </th>
          <th scope="col" className="py-1 text-right font-medium">
            {t("preview.before")}
          </th>
          <th aria-hidden className="w-8" />
          <th scope="col" className="py-1 text-left font-medium">
            {t("preview.after")}
          </th>
        </tr>
      </thead>
      <tbody>
        {changed.map(({ cell, before, after }) => (
          <tr key={cell}>
            <td className="border-t border-line py-1.5">{textOf(cell)}</td>
            <td className="border-t border-line py-1.5 text-right text-muted">
              <Amount amount={before} currency={currency} />
            </td>
            <td aria-hidden className="border-t border-line px-2 text-muted">
              <ArrowRight size={14} />
            </td>
            <td className="border-t border-line py-1.5 font-medium">
              <Amount amount={after} currency={currency} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Amount({ amount, currency }: { amount: string | null; currency: string }) {
  const { t } = useTranslation("prices");
  return amount === null ? t("preview.none") : <Money amount={amount} currency={currency} />;
}
