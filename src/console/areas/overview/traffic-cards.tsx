import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Chart } from "../../ui/chart/chart.tsx";
import { useNarrowing } from "../../ui/filters/range.ts";
import { REST_COLOUR } from "../../ui/chart/series-colours.ts";
import { Card } from "../../ui/page/card.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { formatDuration, formatShortCount, formatShortMoney } from "../../ui/text/format.ts";
import { ButtonLink } from "../../ui/text/link.tsx";
import type { Overview } from "./overview.ts";

const GOOD = "oklch(0.62 0.13 255)";
const BAD = "oklch(0.6 0.19 25)";
const MIDDLE = "oklch(0.62 0.13 255)";
const HIGH = "oklch(0.66 0.16 55)";

/** Requests over time, and those of them that failed. */
export function RequestsCard({ overview }: { overview: Overview }) {
  const { series, totals } = overview;
  const steps = useSteps(overview);
  const { t } = useTranslation("overview");
  const times = useMemo(() => series.map(({ at }) => at), [series]);
  const rows = useMemo(
    () => [
      { name: "errors", label: t("errors"), values: series.map(({ errors }) => errors), colour: BAD },
      {
        name: "succeeded",
        label: t("succeeded"),
        values: series.map(({ requests, errors }) => requests - errors),
        colour: GOOD,
      },
    ],
    [series, t],
  );
  return (
    <Card title={t("requests")}>
      {totals.requests === 0 ? (
        <NoTraffic />
      ) : (
        <Chart
          label={t("requests")}
          kind="bar"
          times={times}
          series={rows}
          format={formatShortCount}
          {...steps}
        />
      )}
    </Card>
  );
}

/** The latency of requests over time. */
export function LatencyCard({ overview }: { overview: Overview }) {
  const { series, totals } = overview;
  const steps = useSteps(overview);
  const { t } = useTranslation("overview");
  const times = useMemo(() => series.map(({ at }) => at), [series]);
  const rows = useMemo(
    () => [
      { name: "p95", label: t("p95"), values: series.map(({ p95Ms }) => p95Ms), colour: HIGH },
      { name: "p50", label: t("p50"), values: series.map(({ p50Ms }) => p50Ms), colour: MIDDLE },
    ],
    [series, t],
  );
  return (
    <Card title={t("latency")}>
      {totals.p95Ms === null ? (
        <EmptyState>{t("latency.none")}</EmptyState>
      ) : (
        <Chart
          label={t("latency")}
          kind="line"
          times={times}
          series={rows}
          format={formatDuration}
          {...steps}
        />
      )}
    </Card>
  );
}

/** The steps of the charts, a part of which can be dragged over to narrow the range. */
function useSteps({ interval, isUnfinished }: Overview) {
  return { interval, isUnfinished, onSelect: useNarrowing() };
}

export function NoTraffic() {
  const { t } = useTranslation("overview");
  return (
    <EmptyState action={<ButtonLink to="/playground">{t("noTraffic.action")}</ButtonLink>}>
      {t("noTraffic")}
    </EmptyState>
  );
}

/** The operation's name for the models that are summed up. */
const OTHER = "other";

/** The spend over time, by model. */
export function SpendCard({ overview }: { overview: Overview }) {
  const { t } = useTranslation("overview");
  const { currency, series, spend, totals } = overview;
  const steps = useSteps(overview);
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
        <Chart
          label={t("spend.byModel")}
          kind="area"
          times={times}
          series={models}
          format={format}
          {...steps}
        />
      )}
    </Card>
  );
}
