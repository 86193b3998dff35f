import { type ComponentProps, type ReactNode, useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Chart } from "../../ui/chart/chart.tsx";
import { useNarrowing } from "../../ui/filters/range.ts";
import { REST_COLOUR } from "../../ui/chart/series-colours.ts";
import { Card } from "../../ui/page/card.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { formatDuration, formatShortCount, formatShortMoney } from "../../ui/text/format.ts";
import { ButtonLink } from "../../ui/text/link.tsx";
import type { Overview } from "./overview.ts";

const USUAL = "oklch(0.62 0.13 255)";
const HIGH = "oklch(0.66 0.16 55)";
const BAD = "oklch(0.6 0.19 25)";

/** Shows the numbers of successful and of failed requests over time. */
export function RequestsCard({ overview }: { overview: Overview }) {
  const { series, totals } = overview;
  const { t } = useTranslation("overview");
  const rows = useMemo(
    () => [
      { name: "errors", label: t("errors"), values: series.map(({ errors }) => errors), colour: BAD },
      {
        name: "succeeded",
        label: t("succeeded"),
        values: series.map(({ requests, errors }) => requests - errors),
        colour: USUAL,
      },
    ],
    [series, t],
  );
  return (
    <ChartCard
      overview={overview}
      label={t("requests")}
      kind="bar"
      series={rows}
      format={formatShortCount}
      empty={totals.requests === 0 && <NoTraffic />}
    />
  );
}

export function LatencyCard({ overview }: { overview: Overview }) {
  const { series, totals } = overview;
  const { t } = useTranslation("overview");
  const rows = useMemo(
    () => [
      { name: "p95", label: t("p95"), values: series.map(({ p95Ms }) => p95Ms), colour: HIGH },
      { name: "p50", label: t("p50"), values: series.map(({ p50Ms }) => p50Ms), colour: USUAL },
    ],
    [series, t],
  );
  return (
    <ChartCard
      overview={overview}
      label={t("latency")}
      kind="line"
      series={rows}
      format={formatDuration}
      empty={totals.p95Ms === null && <EmptyState>{t("latency.none")}</EmptyState>}
    />
  );
}

/** Name of the series that sums up the models without a series of their own, in the operation's result. */
const OTHER = "other";

/** Shows the spend over time by model. */
export function SpendCard({ overview }: { overview: Overview }) {
  const { t } = useTranslation("overview");
  const { currency, spend, totals, top } = overview;
  const models = useMemo(
    () =>
      spend.map(({ id, amounts }) => ({
        name: id,
        label: id === OTHER ? t("other") : (top.models.find((model) => model.id === id)?.name ?? id),
        values: amounts.map(Number),
        ...(id === OTHER && { colour: REST_COLOUR }),
      })),
    [spend, top, t],
  );
  const format = useCallback((value: number) => formatShortMoney(String(value), currency), [currency]);
  return (
    <ChartCard
      overview={overview}
      label={t("spend.byModel")}
      kind="area"
      series={models}
      format={format}
      empty={
        totals.requests === 0 && (
          <NoTraffic action={<ButtonLink to="/playground">{t("noTraffic.action")}</ButtonLink>} />
        )
      }
    />
  );
}

/** Shows a chart of the overview's values. The user can narrow the range by dragging over a part of it. */
function ChartCard({
  overview: { series: points, interval, zone, isUnfinished },
  empty,
  ...chart
}: {
  overview: Overview;
  /** Shown in place of the chart when it has no values. */
  empty: ReactNode;
} & Pick<ComponentProps<typeof Chart>, "label" | "kind" | "series" | "format">) {
  const times = useMemo(() => points.map(({ at }) => at), [points]);
  const onSelect = useNarrowing();
  return (
    <Card title={chart.label}>
      {empty || <Chart {...chart} {...{ times, interval, zone, isUnfinished, onSelect }} />}
    </Card>
  );
}

export function NoTraffic({ action }: { action?: ReactNode }) {
  const { t } = useTranslation("overview");
  return <EmptyState action={action}>{t("noTraffic")}</EmptyState>;
}
