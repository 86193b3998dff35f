import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Card } from "../../ui/page/card.tsx";
import { Chart } from "../../ui/chart/chart.tsx";
import { formatShortMoney } from "../../ui/text/format.ts";
import type { OwnUsage } from "./own-usage.ts";

const DAY_MS = 86_400_000;

/** What each model has cost on each day. */
export function SpendByDay({ usage: { days, from, to, currency } }: { usage: OwnUsage }) {
  const { t } = useTranslation("ownKey");
  const { times, series } = useMemo(() => byModel(days, from, to), [days, from, to]);
  const format = useCallback((value: number) => formatShortMoney(String(value), currency), [currency]);
  if (series.length === 0) return null;
  return (
    <Card title={t("spend.byModel")}>
      <Chart label={t("spend.byModel")} kind="bar" times={times} series={series} format={format} />
    </Card>
  );
}

/** Days without a request are no part of the answer but of the chart. */
function byModel(days: OwnUsage["days"], from: string, to: string) {
  const first = Date.parse(from.slice(0, 10));
  const last = Date.parse(to);
  const times: string[] = [];
  for (let at = first; at <= last; at += DAY_MS) times.push(new Date(at).toISOString());
  const known = new Map(days.map((day) => [day.date, day.models]));
  const names = [...new Set(days.flatMap(({ models }) => models.map(({ model }) => model)))];
  const series = names.map((name) => ({
    name,
    label: name,
    values: times.map((at) =>
      Number(known.get(at.slice(0, 10))?.find(({ model }) => model === name)?.amount ?? 0),
    ),
  }));
  return { times, series };
}
