import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Card } from "../../ui/page/card.tsx";
import { Chart } from "../../ui/chart/chart.tsx";
import { formatShortMoney } from "../../ui/text/format.ts";
import { REST_COLOUR } from "../../ui/chart/series-colours.ts";
import type { Overview } from "./overview.ts";
import { NoTraffic } from "./traffic-cards.tsx";

/** The operation's name for the models that are summed up. */
const OTHER = "other";

/** What was spent over time, by model. */
export function SpendCard({ overview }: { overview: Overview }) {
  const { t } = useTranslation("overview");
  const { currency, series, spend, totals } = overview;
  const times = useMemo(() => series.map(({ at }) => at), [series]);
  const models = useMemo(
    () =>
      spend.map(({ id, amounts }) => ({
        name: id,
        label: id === OTHER ? t("other") : id,
        values: amounts.map(Number),
        ...(id === OTHER && { colour: REST_COLOUR }),
      })),
    [spend, t],
  );
  const format = useCallback((value: number) => formatShortMoney(String(value), currency), [currency]);
  return (
    <Card title={t("spend.byModel")}>
      {totals.requests === 0 ? (
        <NoTraffic />
      ) : (
        <Chart label={t("spend.byModel")} kind="area" times={times} series={models} format={format} />
      )}
    </Card>
  );
}
